import type { Danger } from '../shared/danger.ts';

/** The variables of a server; '' where it has no such variable. */
export type Settings = (name: string) => string;

const isOn = (value: string): boolean => value === 'ON' || value === '1';

/** Settings that endanger locks. */
export const DANGERS: readonly Danger<Settings>[] = [
  {
    severity: 'danger',
    code: 'too-old',
    message: 'the server is older than MariaDB 10.6 and MySQL 8.0',
    advice: 'use a newer server: nothing here was tried on this one',
    when: (settings) => tooOld(settings('version')),
  },
  {
    severity: 'danger',
    code: 'read-only',
    message: 'the server takes no writes: it may be a replica',
    advice: 'connect to the primary',
    when: (settings) => isOn(settings('read_only')) || isOn(settings('super_read_only')),
  },
  {
    severity: 'danger',
    code: 'replica',
    message: 'the server follows another one, and takes writes of its own: they are not seen there',
    advice: 'connect to the primary',
    when: (settings) => isOn(settings('Slave_running')) && !isOn(settings('read_only')),
  },
  {
    severity: 'warning',
    code: 'galera',
    message:
      'the server is part of a Galera cluster: where two nodes are written, updates are lost, and a fail-over may forget the last grants',
    advice:
      'send the locks of all processes to one and the same node, and check the token at the resource; mysqlNamed is refused',
    when: (settings) => isOn(settings('wsrep_on')),
  },
  {
    severity: 'danger',
    code: 'several-primaries',
    message: 'Group Replication with several primaries: two of them may give one lock at a time',
    advice: 'switch the group to a single primary (group_replication_switch_to_single_primary_mode)',
    when: (settings) =>
      settings('group_replication_group_name') !== '' && settings('group_replication_single_primary_mode') === 'OFF',
  },
  {
    severity: 'warning',
    code: 'asynchronous-replicas',
    message:
      'replicas follow without being waited for: a fail-over to one may forget the last grants, and their tokens',
    advice: 'turn on semi-synchronous replication, and check the token at the resource',
    when: (settings) =>
      Number(settings('Slaves_connected')) > 0 &&
      !isOn(settings('Rpl_semi_sync_master_status')) &&
      !isOn(settings('Rpl_semi_sync_source_status')),
  },
  {
    severity: 'danger',
    code: 'no-durability',
    message:
      'a grant and its token may be forgotten when the machine loses power, and be given again: innodb_flush_log_at_trx_commit is not 1',
    advice: 'set innodb_flush_log_at_trx_commit = 1; a session cannot set it for itself',
    // MariaDB's 3 writes no later than 1 does.
    when: (settings) => !['1', '3'].includes(settings('innodb_flush_log_at_trx_commit')),
  },
  {
    severity: 'danger',
    code: 'binlog-not-synced',
    message:
      'a grant and its token may be forgotten when the machine loses power: what the binary log lost is undone, and sync_binlog is not 1',
    advice: 'set sync_binlog = 1; a session cannot set it for itself',
    when: (settings) => isOn(settings('log_bin')) && settings('sync_binlog') !== '1',
  },
  {
    severity: 'danger',
    code: 'statement-replication',
    message: 'binlog_format is STATEMENT: replicas reckon times and tokens anew and come to other results',
    advice: 'set binlog_format to ROW or MIXED',
    when: (settings) => isOn(settings('log_bin')) && settings('binlog_format') === 'STATEMENT',
  },
  {
    severity: 'info',
    code: 'isolation',
    message: 'the sessions are SERIALIZABLE: reads of a line wait for its writers',
    advice: 'nothing breaks; READ COMMITTED is quicker',
    when: (settings) => (settings('transaction_isolation') || settings('tx_isolation')) === 'SERIALIZABLE',
  },
  {
    severity: 'info',
    code: 'idle-limit',
    message: 'the server ends sessions that are idle for less than a minute (wait_timeout)',
    advice: 'set wait_timeout to 60 or more: every new connection costs a grant some milliseconds',
    when: (settings) => Number(settings('wait_timeout')) < 60,
  },
];

function tooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return /mariadb/i.test(version) ? major < 10 || (major === 10 && minor < 6) : major < 8;
}
