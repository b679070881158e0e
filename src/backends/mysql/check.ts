import { counted, type Finding, isLockError } from '../../core/index.ts';
import { type Danger, findingsOf } from '../shared/danger.ts';
import { NoWrites } from './errors.ts';
import type { PoolRow } from './pool.ts';
import * as sql from './sql.generated.ts';
import { nameList } from './statements.ts';
import type { Table } from './table.ts';

/** Reads a variable of the server; '' where the server has no such variable. */
type Settings = (name: string) => string;

const isOn = (value: string): boolean => value === 'ON' || value === '1';

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
    message: 'the server follows another one, and also takes writes of its own, which the other one never sees',
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
    // With 3, MariaDB writes to the disk no later than with 1.
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
    message: 'binlog_format is STATEMENT: replicas compute times and tokens for themselves and come to other results',
    advice: 'set binlog_format to ROW or MIXED',
    when: (settings) => isOn(settings('log_bin')) && settings('binlog_format') === 'STATEMENT',
  },
  {
    severity: 'info',
    code: 'isolation',
    message: 'the sessions are SERIALIZABLE: reads of a queue wait for its writers',
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

const leftOpen = (times: number): Finding => ({
  severity: 'warning',
  code: 'left-open',
  message: `connections of this pool were given back with a transaction, or something like it, left open: ${counted(times, 'time')}`,
  advice:
    'end it (COMMIT, ROLLBACK) before the connection goes back; what was open was undone, as no lock may depend on it',
});

const STILL_TIME: Finding = {
  severity: 'warning',
  code: 'sysdate-is-now',
  message: 'SYSDATE stands still during a statement: one that waited for a row is judged by the time it began',
  advice: 'start the server without sysdate-is-now',
};

/** Reads the settings as texts: a pool whose character set is `binary` gives bytes. */
export async function settingsOf(table: Table): Promise<Settings> {
  const rows = [...(await table.read(sql.settings)), ...(await table.read(sql.status))];
  const all = new Map(rows.map(({ Variable_name, Value }) => [String(Variable_name), String(Value)]));
  return (name) => all.get(name) ?? '';
}

/** MariaDB shows replication in its status, to every user. MySQL shows it by two statements, for users with REPLICATION CLIENT and SLAVE. */
async function replication(table: Table, settings: Settings): Promise<Settings> {
  if (/mariadb/i.test(settings('version'))) return settings;
  const rows = (text: string): Promise<PoolRow[]> =>
    (table.server.run({ sql: text, values: [] }) as Promise<PoolRow[]>).catch(() => []);
  const [replica] = await rows('SHOW REPLICA STATUS');
  const replicas = await rows('SHOW REPLICAS');
  const known: Readonly<Record<string, string>> = {
    Slave_running: String(replica?.Replica_SQL_Running) === 'Yes' ? 'ON' : 'OFF',
    Slaves_connected: `${replicas.length}`,
  };
  return (name) => known[name] ?? settings(name);
}

/** What endangers locks on this server. */
export async function findings(table: Table): Promise<Finding[]> {
  const { leftOpen: open } = table.server;
  const found = [
    ...(await rights(table)),
    ...(open > 0 ? [leftOpen(open)] : []),
    ...findingsOf(DANGERS, await replication(table, await settingsOf(table))),
    ...(await servers(table)),
    ...(await shapeFindings(table)),
  ];
  const [pause] = await table.read(sql.pause);
  return Number(pause?.moves) === 1 ? found : [...found, STILL_TIME];
}

/** How many statements run at the same time, each on another connection if the pool has enough. */
const PARALLEL_STATEMENTS = 4;

/** Finds out whether all connections of the pool lead to one server. */
async function servers(table: Table): Promise<Finding[]> {
  const answers = await Promise.all(Array.from({ length: PARALLEL_STATEMENTS }, () => table.read(sql.server)));
  const names = new Set(answers.map(([row]) => `${row?.host}:${row?.port} (${row?.id})`));
  if (names.size === 1) return [];
  const message = `connections of this pool lead to several servers, which may give one lock at a time: ${[...names].join(', ')}`;
  const advice =
    'send the locks of all processes to one and the same server: no balancing between nodes, no splitting of reads';
  return [{ severity: 'danger', code: 'several-servers', message, advice }];
}

/** Tries every kind of statement, in such a way that it changes no row. */
async function rights(table: Table): Promise<Finding[]> {
  const found: Finding[] = [];
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    'SELECT and UPDATE': async () => {
      await table.ready();
      await table.write(sql.probe);
    },
    INSERT: () => table.write(sql.found, { format: '' }),
    DELETE: () => table.write(sql.sweep, { token: '0', idle: '0' }, nameList([Buffer.from([0])])),
  };
  for (const [right, step] of Object.entries(steps)) {
    try {
      await step();
    } catch (error) {
      if (!isLockError(error) && !(error instanceof NoWrites)) throw error;
      const advice = `grant the user SELECT, INSERT, UPDATE and DELETE on the table`;
      found.push({ severity: 'danger', code: 'rights', message: `${right}: ${error.message}`, advice });
      return found; // the table may be of another program, so nothing more is tried on it
    }
  }
  return found;
}

/** The columns that `setup` makes. Old servers also report the width of an integer, which `textOf` leaves out. */
const MADE = [
  'name varbinary(600) NO PRI',
  'token bigint unsigned NO ',
  'used bigint NO ',
  'queue mediumblob NO ',
  'value mediumblob NO ',
  'value_ends bigint NO ',
].map((column) => `${column} InnoDB`);

const textOf = ({ name, type, nullable, part, engine }: PoolRow): string =>
  `${name} ${String(type).replace(/^bigint\(\d+\)/, 'bigint')} ${nullable} ${part} ${engine}`;

/** Finds out whether the table differs from what `setup` makes. A table of MyISAM, for example, cannot undo an interrupted statement. */
async function shapeFindings(table: Table): Promise<Finding[]> {
  const columns = (await table.read(sql.shape, table.address)).map(textOf);
  if (columns.length === 0 || MADE.every((column) => columns.includes(column))) return [];
  const missing = MADE.filter((column) => !columns.includes(column));
  const message = `the table is not as setup() makes it: it has no column ${missing.map((column) => JSON.stringify(column)).join(', ')}`;
  const advice =
    'while nobody locks, drop it and let setup() make it again: tokens then start over, so use another table where they are checked';
  return [{ severity: 'danger', code: 'table-shape', message, advice }];
}
