import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { redis } from '../src/backends/redis/index.ts';
import { connect } from '../src/connect/index.ts';
import { createLocks } from '../src/index.ts';
import { serve } from '../test/kit/worker.ts';
import { median } from './verdict.ts';

const url = process.env.URL!;
const locks = await connect(url);
const client = new Redis(url);
const ownLocks = createLocks(redis(client));
/** As the caller of a service that waits would look. ms. */
const POLL = 100;
const HOUR = 3_600;
/** The parts of a measurement, one of each contestant after the other. */
const TURNS = 50;

/** Milliseconds that all processes of the machine count alike. */
const now = (): number => performance.timeOrigin + performance.now();

/** The callers of this process that wait for a key, as `floor` knows them: a promise of the text, and what settles it. */
const texts = new Map<string, Promise<string>>();
const told = new Map<string, (text: string) => void>();
const subscriber = new Redis(url);
subscriber.on('message', (key, text) => told.get(key)?.(text));

let runs = 0;
let ended = 0;
/** The work: it takes a while, and its end is noted. */
async function build(ms: number): Promise<string> {
  runs++;
  await sleep(ms);
  ended = now();
  return 'x'.repeat(1_000);
}

async function floorText(key: string, ms: number): Promise<string> {
  const text = Promise.withResolvers<string>();
  told.set(key, text.resolve);
  await subscriber.subscribe(key);
  if ((await client.set(`${key}:lock`, '', 'PX', 30_000, 'NX')) !== 'OK') return text.promise;
  const made = JSON.stringify(await build(ms));
  await client.multi().set(`${key}:value`, made, 'EX', HOUR).publish(key, made).exec();
  return made;
}

type Algorithm = (key: string, ms: number) => Promise<string>;

const ALGORITHMS = {
  async memo(key, ms) {
    return (await locks.memo<string>(key, { keep: '1h' }).run(() => build(ms))).value;
  },

  /** What nobody can leave out, by hand: the runner writes and tells in one step, and each caller parses for itself. No limits, no deaths. */
  async floor(key, ms) {
    if (!texts.has(key)) texts.set(key, floorText(key, ms));
    return JSON.parse(await texts.get(key)!);
  },

  /** Each waiter takes the lock, and looks whether the work is done. */
  lockAndLook: (key, ms) =>
    locks.mutex(key).run(async () => {
      const found = await client.get(`${key}:value`);
      if (found !== null) return found;
      const value = await build(ms);
      await client.set(`${key}:value`, value, 'EX', HOUR);
      return value;
    }),

  /** A record that says INPROGRESS or COMPLETED, written under a condition. The second caller gets an error, and asks again. */
  async powertools(key, ms) {
    for (;;) {
      if ((await client.set(`${key}:record`, 'INPROGRESS', 'PX', 30_000, 'NX')) === 'OK') {
        const value = await build(ms);
        await client.set(`${key}:record`, `COMPLETED ${value}`, 'EX', HOUR);
        return value;
      }
      const record = await client.get(`${key}:record`);
      if (record?.startsWith('COMPLETED ')) return record.slice(10);
      await sleep(POLL);
    }
  },
} satisfies Record<string, Algorithm>;

export type AlgorithmName = keyof typeof ALGORITHMS;

/** µs each. */
export interface HitTimes {
  readonly connected: number;
  readonly hit: number;
  readonly bare: number;
  readonly parsed: number;
}

const calls = {
  /** @returns the runs of this process, when the last one ended, and when each caller had the result */
  async crowd(name: AlgorithmName, key: string, callers: number, ms: number) {
    [runs, ended] = [0, 0];
    const had = Array.from({ length: callers }, async () => {
      await ALGORITHMS[name](key, ms);
      return now();
    });
    return { had: await Promise.all(had), runs, ended };
  },

  /**
   * µs for a caller to have what is kept, one after the other, over the client of `connect` and over one of the caller's; and over the
   * latter for a bare `GET` of the same text, and for one that is parsed. In turns, of which the middle counts.
   */
  async hits(key: string, count: number): Promise<HitTimes> {
    const memo = locks.memo<string>(key, { keep: '1h' });
    const own = ownLocks.memo<string>(key, { keep: '1h' });
    const { value } = await memo.run(() => build(0));
    await client.set(`${key}:bare`, JSON.stringify(value));
    const acts = {
      connected: () => memo.run(() => build(0)),
      hit: () => own.run(() => build(0)),
      bare: () => client.get(`${key}:bare`),
      parsed: async () => JSON.parse((await client.get(`${key}:bare`))!),
    };
    const times: Record<keyof HitTimes, number[]> = { connected: [], hit: [], bare: [], parsed: [] };
    for (let turn = 0; turn < 2 * TURNS; turn++) {
      for (const name of ['connected', 'hit', 'bare', 'parsed'] as const) {
        const began = performance.now();
        for (let n = 0; n < count / TURNS; n++) await acts[name]();
        if (turn >= TURNS) times[name].push(((performance.now() - began) * 1_000 * TURNS) / count); // the code is warm
      }
    }
    const { connected, hit, bare, parsed } = times;
    return { connected: median(connected), hit: median(hit), bare: median(bare), parsed: median(parsed) };
  },

  async cycle(name: 'lock' | 'memo' | 'hit', key: string): Promise<void> {
    if (name === 'lock') await locks.mutex(key).run(() => build(0));
    else await ALGORITHMS.memo(key, 0);
  },
};

export type MemoCalls = typeof calls;
serve(calls);
