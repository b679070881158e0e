/** A process of the service that can be paused between its last look at the lease and its write. */
import { setTimeout as pass } from 'node:timers/promises';
import { connect } from '../../src/connect/index.ts';
import type { Lease, Locks } from '../../src/index.ts';
import { serve } from '../../test/kit/worker.ts';
import { openSqlite } from '../grab-order/sqlite.ts';
import { note, noting, takeNotes } from '../rush/notes.ts';

export interface Attempt {
  readonly who: string;
  readonly order: number;
  /** The row keeps the newest token, and refuses older ones. */
  readonly checked: boolean;
  /** Whether this process is paused while it holds the lock. */
  readonly paused: boolean;
  /** ms */
  readonly ttl: number;
}

/** The check of the price, ms. */
const WORK = 150;

let locks: Locks | undefined;
let database: ReturnType<typeof openSqlite> | undefined;

/** @returns whether a row was changed */
async function write({ who, order, checked }: Attempt, token: bigint): Promise<boolean> {
  const [where, params] = checked ? [' AND fence <= ?', [Number(token)]] : ['', []];
  const sql = `UPDATE fenced SET driver = ?, fence = ? WHERE id = ?${where} RETURNING id`;
  const rows = (await database!.query(sql, [who, Number(token), order, ...params])) as unknown[];
  return rows.length > 0;
}

/** SIGSTOP, as an operating system, a hypervisor or a debugger may do it at any moment. Somebody else has to send SIGCONT. */
function stopHere(): void {
  const before = performance.now();
  process.kill(process.pid, 'SIGSTOP');
  while (performance.now() - before < 20); // the signal may arrive a moment later
}

async function attempt(plan: Attempt, lease: Lease): Promise<boolean> {
  const { who, order: thing, paused, ttl } = plan;
  const token = `${lease.token}`;
  note(who, 'enters', { thing, token, ttl });
  await pass(WORK);
  lease.assertHeld(); // it looked, and it was right: nothing is wrong yet
  if (paused) {
    note(who, 'pauses', { thing });
    stopHere();
    note(who, 'wakes', { thing });
  }
  const won = await write(plan, lease.token);
  note(who, won ? 'writes' : 'refused', { thing, token });
  return won;
}

export type Calls = typeof calls;

const calls = {
  async open(path: string, url: string): Promise<void> {
    database ??= openSqlite(path);
    locks ??= await connect(url);
  },
  async tap(plan: Attempt): Promise<void> {
    const { who, order: thing, ttl } = plan;
    note(who, 'taps', { thing });
    const lock = locks!.mutex(`fenced:${thing}`);
    const won = await noting(who, () => lock.run((lease) => attempt(plan, lease), { ttl, wait: '40s' }));
    note(who, 'told', { thing, won });
  },
  takeNotes,
};

serve(calls);
