/** What the blocks of the documents take for granted: what is imported once per page, and what is the reader's own. */
import type * as holdfast from '../src/index.ts';
import type * as transaction from '../src/transaction/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: clients and functions of the reader's own may be anything
type Yours = any;

declare global {
  type Locks = holdfast.Locks;
  const createLocks: typeof holdfast.createLocks;
  const lockFree: typeof transaction.lockFree;

  const locks: Locks;
  const conformance: typeof import('../src/testing/index.ts').conformance;
  const clock: import('../src/testing/index.ts').ManualClock;
  const signal: AbortSignal;
  const driver: string;
  const url: string;
  const client: Yours;
  const pool: Yours;
  const db: Yours;
  const query: (text: string, values?: readonly unknown[]) => Promise<Yours>;
  const inTransaction: Yours;
  const withTransaction: Yours;
  const next: Yours;
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
  const test: Yours;
  const rows: Yours;
  const pay: Yours;
  const show: Yours;
  const metrics: Yours;
  const redlock: Yours;
  const log: Yours;
}
