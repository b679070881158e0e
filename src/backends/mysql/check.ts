import type { Finding } from '../../core/contract/backend.ts';
import { counted, isLockError } from '../../core/contract/errors.ts';
import { findingsOf } from '../shared/danger.ts';
import type { Row } from './connection.ts';
import { DANGERS, type Settings } from './dangers.ts';
import { NoWrites } from './no-writes.ts';
import { shapeFindings } from './schema.ts';
import * as sql from './sql.generated.ts';
import { nameList } from './statements.ts';
import type { Table } from './table.ts';

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

/** Asked for as text: a pool whose character set is `binary` gives bytes. */
export async function settingsOf(table: Table): Promise<Settings> {
  const rows = [...(await table.read(sql.settings)), ...(await table.read(sql.status))];
  const all = new Map(rows.map(({ Variable_name, Value }) => [String(Variable_name), String(Value)]));
  return (name) => all.get(name) ?? '';
}

/** What MariaDB says by its status, MySQL says by these, and not to everybody: they take REPLICATION CLIENT and REPLICATION SLAVE. */
async function replication(table: Table, settings: Settings): Promise<Settings> {
  if (/mariadb/i.test(settings('version'))) return settings;
  const rows = (text: string): Promise<Row[]> =>
    (table.server.run({ sql: text, values: [] }) as Promise<Row[]>).catch(() => []);
  const [replica] = await rows('SHOW REPLICA STATUS');
  const replicas = await rows('SHOW REPLICAS');
  const told: Readonly<Record<string, string>> = {
    Slave_running: String(replica?.Replica_SQL_Running) === 'Yes' ? 'ON' : 'OFF',
    Slaves_connected: `${replicas.length}`,
  };
  return (name) => told[name] ?? settings(name);
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

/** How many statements ask at the same time: each on a connection of its own, where the pool has so many. */
const ASKED = 4;

/** Whether all connections of the pool lead to one server. */
async function servers(table: Table): Promise<Finding[]> {
  const answers = await Promise.all(Array.from({ length: ASKED }, () => table.read(sql.server)));
  const names = new Set(answers.map(([row]) => `${row?.host}:${row?.port} (${row?.id})`));
  if (names.size === 1) return [];
  const message = `connections of this pool lead to several servers, which may give one lock at a time: ${[...names].join(', ')}`;
  const advice =
    'send the locks of all processes to one and the same server: no balancing between nodes, no splitting of reads';
  return [{ severity: 'danger', code: 'several-servers', message, advice }];
}

/** Tries every kind of statement, in such a way that it changes no row. */
async function rights(table: Table): Promise<Finding[]> {
  const none = Buffer.from([0]);
  const found: Finding[] = [];
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    'SELECT and UPDATE': async () => {
      await table.ready();
      await table.write(sql.swap, { name: none, old: none, new: '' });
    },
    INSERT: () => table.write(sql.found, { format: '' }),
    DELETE: () => table.write(sql.sweep, { token: '0', idle: '0' }, nameList([none])),
  };
  for (const [right, step] of Object.entries(steps)) {
    try {
      await step();
    } catch (error) {
      if (!isLockError(error) && !(error instanceof NoWrites)) throw error;
      const advice = `grant the user SELECT, INSERT, UPDATE and DELETE on the table`;
      found.push({ severity: 'danger', code: 'rights', message: `${right}: ${error.message}`, advice });
      return found; // perhaps it is not our table: nothing more is tried on it
    }
  }
  return found;
}
