import type { Finding } from '../../core/contract/backend.ts';
import type { Client } from './wire/client.ts';
import { ALARMS, MEMBERS, STATUS_OF } from './wire/messages.ts';

interface Defect {
  /** Minor version of etcd 3 → the first patch without the defect. */
  readonly fixed: Readonly<Record<number, number>>;
  readonly what: string;
}

/** From the change logs at https://github.com/etcd-io/etcd/tree/main/CHANGELOG */
const DEFECTS: readonly Defect[] = [
  { fixed: { 4: 31, 5: 13 }, what: 'a watch may miss events after a compaction' },
  {
    fixed: { 4: 32, 5: 14 },
    what: 'revisions, and with them fencing tokens, may go back after a crash in a compaction',
  },
  { fixed: { 4: 38, 5: 24, 6: 5 }, what: 'a keep-alive may succeed although the lease is being revoked' },
  { fixed: { 4: 42, 5: 28, 6: 9 }, what: 'reads may be stale after a member was stopped for a while' },
  { fixed: { 5: 3 }, what: 'members may come to hold different data after a crash under load' },
];

export async function check(client: Client): Promise<Finding[]> {
  const asked = [client.call(STATUS_OF, {}), client.call(MEMBERS, {}), client.call(ALARMS, {})] as const;
  const [status, { members }, { alarms }] = await Promise.all(asked);
  const voters = members.filter(({ isLearner }) => !isLearner).length;
  return [
    ...versionFindings(status.version),
    ...alarms.map(({ alarm }) => alarmFinding(alarm)),
    ...memberFindings(voters),
    ...(alarms.length > 0 ? [] : await leaseFindings(client)), // with an alarm etcd grants no lease to look at
    ...(client.authenticated ? [] : [OPEN]),
  ];
}

export function versionFindings(version: string): Finding[] {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const advice = 'upgrade to the latest patch of a supported version';
  if (major < 3 || (major === 3 && minor < 4)) {
    return [{ severity: 'danger', code: 'version', message: `etcd ${version} is older than 3.4`, advice }];
  }
  return DEFECTS.filter(({ fixed }) => major === 3 && patch < (fixed[minor] ?? 0)).map(({ what }) => ({
    severity: 'warning',
    code: 'version-defect',
    message: `etcd ${version}: ${what}`,
    advice: `${advice}; until then rely on fencing tokens`,
  }));
}

const alarmFinding = (alarm: bigint): Finding => ({
  severity: 'danger',
  code: alarm === 1n ? 'no-space' : 'corrupt',
  message:
    alarm === 1n ? 'the database is full: nothing can be locked' : 'a member holds different data than the others',
  advice: alarm === 1n ? 'compact and defragment, then `etcdctl alarm disarm`' : 'replace the member that is reported',
});

function memberFindings(voters: number): Finding[] {
  if (voters >= 3) return [];
  return [
    {
      severity: 'warning',
      code: 'few-members',
      message: `the cluster has ${voters} voting member${voters === 1 ? '' : 's'} and does not survive the loss of one`,
      advice: 'run three or five members',
    },
  ];
}

/** The least ttl is one and a half of the election timeout, in full seconds. So long locks stop when a leader is lost. */
async function leaseFindings(client: Client): Promise<Finding[]> {
  const { id, ttl: seconds } = await client.grant(1n);
  await client.revoke(id);
  if (seconds <= 2n) return [];
  return [
    {
      severity: 'info',
      code: 'election-timeout',
      message: `leases are at least ${seconds} s long here, as elections take long; a dead holder keeps its key as long`,
      advice: 'lower `--election-timeout`, in so far as the network between the members allows',
    },
  ];
}

const OPEN: Finding = {
  severity: 'info',
  code: 'no-auth',
  message: 'no user is given: a program that reaches etcd as this process does may release any lock',
  advice: 'enable authentication and give this service a role for its prefix',
};
