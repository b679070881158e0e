import type { Finding } from '../../core/index.ts';
import type { MongoDb } from './driver.ts';

export async function check(db: MongoDb): Promise<Finding[]> {
  const [{ version }, hello] = await Promise.all([db.command({ buildInfo: 1 }), db.command({ hello: 1 })]);
  return [...versionFindings(String(version)), ...memberFindings(hello)];
}

/** For mongos, a router, whose shards are replica sets. */
const SHARDED: Finding = {
  severity: 'warning',
  code: 'sharded',
  message:
    "behind mongos the time is the router's, and a key goes by the latest time of any router: one that is ahead ends leases early that were not renewed in between, and keeps the locks of the dead for so much longer; one that is behind is refused. Waiters ask four times a second, since a router holds changes up",
  advice: 'keep the clocks of all routers together (NTP); leave the collection unsharded, or shard it by _id',
};

function versionFindings(version: string): Finding[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 4 || (major === 4 && minor >= 4)) return [];
  const message = `MongoDB ${version} is older than 4.4, and the driver does not connect to it`;
  return [{ severity: 'danger', code: 'version', message, advice: 'upgrade to a supported version' }];
}

function memberFindings({ setName, msg, hosts, arbiters }: Record<string, unknown>): Finding[] {
  if (msg === 'isdbgrid') return [SHARDED];
  if (setName === undefined) {
    return [
      {
        severity: 'warning',
        code: 'standalone',
        message: 'a single server without replication: locks stop with it, and waiters ask four times a second',
        advice: 'run a replica set, of one member if need be: it has change streams, which wake waiters',
      },
    ];
  }
  const members = Array.isArray(hosts) ? hosts.length : 0;
  if (members >= 3 && !(Array.isArray(arbiters) && arbiters.length > 0)) return [];
  return [
    {
      severity: 'warning',
      code: 'few-members',
      message: `the replica set has ${members} members with data: majority writes stop with the loss of one`,
      advice: 'run three or more members with data, and no arbiter',
    },
  ];
}
