import type { Finding } from '../../core/index.ts';
import type { Client } from './wire/client.ts';
import { ALARMS, GRANT, MEMBERS, REVOKE, STATUS_OF } from './wire/messages.ts';

/** `fixed` has, by minor version of etcd 3, the first patch without the defect: https://github.com/etcd-io/etcd/tree/main/CHANGELOG */
const DEFECTS: readonly { readonly fixed: Readonly<Record<number, number>>; readonly what: string }[] = [
  { fixed: { 4: 31, 5: 13 }, what: 'a watch may miss events after a compaction' },
  {
    fixed: { 4: 32, 5: 14 },
    what: 'revisions, and with them fencing tokens, may go back after a crash in a compaction',
  },
  { fixed: { 4: 38, 5: 24, 6: 5 }, what: 'a keep-alive may succeed although the lease is being revoked' },
  { fixed: { 4: 42, 5: 28, 6: 9 }, what: 'reads may be stale after a member was stopped for a while' },
  { fixed: { 5: 3 }, what: 'members may come to hold different data after a crash under load' },
];

const NO_SPACE = 1n;

export async function check(client: Client): Promise<Finding[]> {
  const asked = [client.call(STATUS_OF, {}), client.call(MEMBERS, {}), client.call(ALARMS, {})] as const;
  const [status, { members }, { alarms }] = await Promise.all(asked);
  const found = versionFindings(status.version);
  const add = (severity: Finding['severity'], code: string, message: string, advice: string): void => {
    found.push({ severity, code, message, advice });
  };
  for (const { alarm } of alarms) {
    if (alarm === NO_SPACE) {
      const advice = 'compact and defragment, then `etcdctl alarm disarm`';
      add('danger', 'no-space', 'the database is full: nothing can be locked', advice);
    } else
      add('danger', 'corrupt', 'a member holds different data than the others', 'replace the member that is reported');
  }
  const voters = members.filter(({ isLearner }) => !isLearner).length;
  if (voters < 3) {
    const has = `the cluster has ${voters} voting member${voters === 1 ? '' : 's'}`;
    add('warning', 'few-members', `${has} and does not survive the loss of one`, 'run three or five members');
  }
  // The shortest lease shows the election timeout: it is at least one and a half timeouts long. When a leader is lost, locks stop for one
  // timeout. With an alarm, the server grants no lease.
  const { id, ttl: seconds } = alarms.length > 0 ? { ttl: 0n } : await client.call(GRANT, { ttl: 1n });
  if (id) await client.call(REVOKE, { id });
  if (seconds > 2n) {
    const message = `leases are at least ${seconds} s long here, as elections take long; a dead holder keeps its key as long`;
    const advice = 'lower `--election-timeout`, in so far as the network between the members allows';
    add('info', 'election-timeout', message, advice);
  }
  if (!client.authenticated) {
    const message = 'no user is given: a program that reaches etcd as this process does may release any lock';
    add('info', 'no-auth', message, 'enable authentication and give this service a role for its prefix');
  }
  return found;
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
