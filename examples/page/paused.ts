import { setTimeout as pass } from 'node:timers/promises';
import { openBackend } from '../../src/connect/open.ts';
import { startWorker, type WorkerProcess } from '../../test/kit/processes.ts';
import { settleWithin } from '../../test/kit/wait.ts';
import type { Database } from '../grab-order/database.ts';
import { openSqlite } from '../grab-order/sqlite.ts';
import type { Calls } from './holder.worker.ts';
import type { Side } from './record.ts';
import { timeline } from './timeline.ts';

const WORKER = new URL('./holder.worker.ts', import.meta.url);
/** Where the engine has leases that short. ms. */
const TTL = 900;
/** Leases of some engines are long. ms. */
const LIMIT = 45_000;
/** How long the first one taps before the second. ms. */
const AHEAD = 60;
/** How long the second one has the order before the first one wakes. ms. */
const LATE = 250;

/** Two processes that want one order, of which the first is paused beyond its lease. */
export class Holders implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  readonly #database: Database;
  #processes: readonly WorkerProcess<Calls>[] = [];
  #order = 0;
  #ttl = TTL;

  private constructor(database: Database) {
    this.#database = database;
    this.#stack.defer(() => database.end());
  }

  static async start(path: string, url: string): Promise<Holders> {
    const holders = new Holders(openSqlite(path));
    try {
      holders.#ttl = await ttlOn(url);
      const table = 'fenced (id INTEGER PRIMARY KEY, driver TEXT, fence INTEGER NOT NULL)';
      await holders.#database.query(`CREATE TABLE ${table}`, []);
      holders.#processes = await Promise.all(
        [1, 2].map(async () => holders.#stack.use(await startWorker<Calls>(WORKER))),
      );
      await Promise.all(holders.#processes.map((each) => each.call('open', path, url)));
      return holders;
    } catch (error) {
      await holders[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** @param checked whether the row refuses an old token */
  async rush(checked: boolean): Promise<Side> {
    const [first, second] = this.#processes as [WorkerProcess<Calls>, WorkerProcess<Calls>];
    const order = ++this.#order; // a key of its own: a hold of the scene before never matters
    await this.#database.query('INSERT INTO fenced (id, fence) VALUES (?, 0)', [order]);
    const plan = { order, checked, ttl: this.#ttl };
    const late = first.call('tap', { ...plan, who: '1', paused: true });
    late.catch(() => {}); // it is looked at below
    await pass(AHEAD); // so that the first one is the first
    const prompt = second.call('tap', { ...plan, who: '2', paused: false });
    prompt.catch(() => {});
    try {
      await settleWithin('the second driver gets the lock', prompt, LIMIT);
      await pass(LATE);
    } finally {
      first.resume();
    }
    await settleWithin('the first driver goes on', late, LIMIT);
    const row = 'SELECT driver FROM fenced WHERE id = ?';
    const [end] = (await this.#database.query(row, [order])) as { driver: string }[];
    const notes = await Promise.all(this.#processes.map((each) => each.call('takeNotes')));
    const happenings = timeline(notes).map((each) => (each.thing === undefined ? each : { ...each, thing: 1 }));
    return {
      strategy: checked ? 'token' : 'none',
      things: [{ thing: 1, units: 1 }],
      people: [0, 1].map((process) => ({ who: `${process + 1}`, process, thing: 1 })),
      happenings,
      owners: { 1: end!.driver },
      written: happenings.filter(({ what }) => what === 'writes').length,
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

async function ttlOn(url: string): Promise<number> {
  const backend = await openBackend(url);
  await backend.close();
  return Math.max(TTL, backend.traits.ttl.min);
}
