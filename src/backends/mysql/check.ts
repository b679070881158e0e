import type { Finding } from '../../core/backend.ts';
import { isLockError } from '../../core/errors.ts';
import * as sql from './sql.generated.ts';
import { namesOf } from './statement.ts';
import type { Table } from './table.ts';

/** What a server says about itself; empty where it has no such variable. */
type Settings = (name: string) => string;

const isOn = (value: string): boolean => value === 'ON' || value === '1';

/** Settings that endanger locks, as data: when, and what to do. */
const DANGERS: readonly (Finding & { when(settings: Settings): boolean })[] = [
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
    severity: 'warning',
    code: 'galera',
    message:
      'the server is part of a Galera cluster: two nodes may change one row at a time, and one of them is told late',
    advice: 'send the locks to one node, or set wsrep_sync_wait = 7; named locks (mysqlNamed) are refused here',
    when: (settings) => isOn(settings('wsrep_on')),
  },
  {
    severity: 'warning',
    code: 'no-durability',
    message: 'a grant may be forgotten when the machine loses power: innodb_flush_log_at_trx_commit is not 1',
    advice: 'set innodb_flush_log_at_trx_commit = 1',
    when: (settings) => settings('innodb_flush_log_at_trx_commit') !== '1',
  },
  {
    severity: 'danger',
    code: 'statement-replication',
    message: 'binlog_format is STATEMENT: replicas reckon times and tickets anew and come to other results',
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

const leftOpen = (times: number): Finding => ({
  severity: 'warning',
  code: 'left-open',
  message: `connections of this pool were given back with a transaction, or something like it, left open: ${times} times`,
  advice:
    'end it (COMMIT, ROLLBACK) before the connection goes back; what was open was undone, as no lock may depend on it',
});

const STILL_TIME: Finding = {
  severity: 'warning',
  code: 'sysdate-is-now',
  message: 'SYSDATE stands still during a statement: one that waited for a row is judged by the time it began',
  advice: 'start the server without sysdate-is-now',
};

function tooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return /mariadb/i.test(version) ? major < 10 || (major === 10 && minor < 6) : major < 8;
}

/** As text, in which a pool whose character set is `binary` does not give it. */
export async function settingsOf(table: Table): Promise<Settings> {
  const rows = await table.read(sql.settings);
  const all = new Map(rows.map(({ Variable_name, Value }) => [String(Variable_name), String(Value)]));
  return (name) => all.get(name) ?? '';
}

/** What endangers locks on this server. */
export async function findings(table: Table): Promise<Finding[]> {
  const found = await rights(table);
  if (table.client.leftOpen > 0) found.push(leftOpen(table.client.leftOpen));
  const settings = await settingsOf(table);
  for (const { when, ...finding } of DANGERS) if (when(settings)) found.push(finding);
  const [pause] = await table.read(sql.pause);
  if (Number(pause?.moves) !== 1) found.push(STILL_TIME);
  return found;
}

/** Tries every kind of statement, on no row. */
async function rights(table: Table): Promise<Finding[]> {
  const none = Buffer.from([0]);
  const found: Finding[] = [];
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    'SELECT and UPDATE': async () => {
      await table.ready();
      await table.write(sql.swap, { name: none, old: none, new: '' });
    },
    INSERT: () => table.write(sql.found, { format: '' }),
    DELETE: () => table.write(sql.sweep, { ticket: '0', idle: '0' }, namesOf([none])),
  };
  for (const [right, step] of Object.entries(steps)) {
    try {
      await step();
    } catch (error) {
      if (!isLockError(error)) throw error;
      const advice = `grant the user SELECT, INSERT, UPDATE and DELETE on the table`;
      found.push({ severity: 'danger', code: 'rights', message: `${right}: ${error.message}`, advice });
      return found; // not even our table, perhaps: nothing more is tried on it
    }
  }
  return found;
}
