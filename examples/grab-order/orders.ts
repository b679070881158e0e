import { recordsOf } from '../../src/transaction/query.ts';
import { note } from '../rush/notes.ts';
import { StartSignal } from '../rush/start-signal.ts';
import type { Database, Query } from './database.ts';

/** The table of orders, and of what was promised to drivers: two winners of one order are two rows there. */
const TABLES = [
  'CREATE TABLE orders (id int PRIMARY KEY, driver varchar(60), version int NOT NULL)',
  'CREATE TABLE wins (order_id int NOT NULL, driver varchar(60) NOT NULL)',
];

export async function createOrders({ query }: Database): Promise<void> {
  for (const sql of TABLES) await query(sql, []);
}

/** Open orders, from 1. */
export async function openOrders({ query }: Database, count: number): Promise<void> {
  await query('DELETE FROM wins', []);
  await query('DELETE FROM orders', []);
  const rows = Array.from({ length: count }, (_, i) => `(${i + 1}, NULL, 0)`);
  await query(`INSERT INTO orders (id, driver, version) VALUES ${rows.join(', ')}`, []);
}

/** Longer than anyone waits here: a driver who has to wait that long is told to try again. */
export const WAIT = '15s';

/** Of this process. */
export const signal = new StartSignal();

export interface Order {
  readonly driver: string | null;
  readonly version: number;
}

export async function readOrder({ query, mark }: Database, id: number, driver: string): Promise<Order | undefined> {
  const sql = `SELECT driver, version FROM orders WHERE id = ${mark(1)}`;
  const order = recordsOf(await query(sql, [id]))[0] as Order | undefined;
  note(driver, 'reads', { thing: id, left: order?.driver === null ? 1 : 0 });
  return order;
}

export async function giveTo({ mark }: Database, id: number, driver: string, query: Query): Promise<void> {
  await query(`UPDATE orders SET driver = ${mark(1)} WHERE id = ${mark(2)}`, [driver, id]);
}

/** The driver is told. */
export async function promise(database: Database, id: number, driver: string, query = database.query): Promise<void> {
  const { mark } = database;
  await query(`INSERT INTO wins (order_id, driver) VALUES (${mark(1)}, ${mark(2)})`, [id, driver]);
  note(driver, 'writes', { thing: id });
}

/**
 * Reads, checks the price, writes: nothing in it keeps two drivers apart, that is left to whoever calls it.
 * @returns whether the driver has the order
 */
export async function grab(database: Database, id: number, driver: string): Promise<boolean> {
  const order = await readOrder(database, id, driver);
  if (!order || order.driver !== null) return false;
  await signal.checkPrice();
  await giveTo(database, id, driver, database.query);
  await promise(database, id, driver);
  return true;
}

export interface Verdict {
  readonly orders: number;
  readonly winners: number;
  readonly wonTwice: number;
  readonly wonByNobody: number;
}

export async function judge({ query }: Database, orders: number): Promise<Verdict> {
  const rows = recordsOf(await query('SELECT order_id, COUNT(*) AS winners FROM wins GROUP BY order_id', []));
  const winners = rows.map((row) => Number(row.winners));
  return {
    orders,
    winners: winners.reduce((sum, n) => sum + n, 0),
    wonTwice: winners.filter((n) => n > 1).length,
    wonByNobody: orders - rows.length,
  };
}
