/** What the blocks of the documents take for granted: what is imported once per page, and what is the reader's own. */
import type * as holdfast from 'holdfast';
import type * as transaction from 'holdfast/transaction';

// biome-ignore lint/suspicious/noExplicitAny: clients and functions of the reader's own may be anything
type Yours = any;
type Query = (text: string, values: readonly unknown[]) => Promise<Yours>;
type Transaction = <T>(work: (query: Query) => Promise<T>) => Promise<T>;

declare global {
  type Locks = holdfast.Locks;
  const createLocks: typeof holdfast.createLocks;
  const lockFree: typeof transaction.lockFree;

  const locks: Locks;
  const lease: holdfast.Lease;
  const phones: import('holdfast/stock').Product;
  const subject: import('holdfast/testing').Subject;
  const conformance: typeof import('holdfast/testing').conformance;
  const clock: import('holdfast/testing').ManualClock;
  const signal: AbortSignal;
  const table: (db: Yours) => import('holdfast/register').RegisterStore;
  const connection: Yours;
  const driver: string;
  const url: string;
  const client: import('ioredis').Redis | ReturnType<typeof import('redis')['createClient']>;
  const pool: import('pg').Pool & import('mysql2/promise').Pool;
  const db: Yours;
  const query: Query;
  const inTransaction: Transaction;
  const withTransaction: Transaction;
  const next: Yours;
  const nextJob: Yours;
  const giveBack: Yours;
  const migrator: Yours;
  const work: Yours;
  const store: Yours;
  const stock: Yours;
  const payment: Yours;
  const request: Yours;
  const sites: Yours;
  const build: Yours;
  const rebuild: Yours;
  const report: Yours;
  const isFresh: Yours;
  const fetchReceipt: Yours;
  const grabOrder: Yours;
  const writeOrder: Yours;
  const test: typeof import('vitest').test;
  const rows: Yours;
  const pay: Yours;
  const show: Yours;
  const metrics: Yours;
  const redlock: { using<T>(keys: string[], ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> };
  const log: Yours;
}
