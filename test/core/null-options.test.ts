import { Redis } from 'ioredis';
import { afterAll, describe, expect, test } from 'vitest';
import { createStock, memoryStock, redisStock, sqliteStock, sqlStock } from '../../products/stock/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { quorum } from '../../src/backends/quorum/index.ts';
import { register } from '../../src/backends/register/index.ts';
import { cronerTask, nodeCronCoordinator } from '../../src/cron/index.ts';
import { Locked, locked, lockedBy } from '../../src/decorator/index.ts';
import { etcdFence, fenceColumn, redisFence, sqlFence } from '../../src/fence/index.ts';
import { idempotency } from '../../src/idempotency/index.ts';
import { createLocks } from '../../src/index.ts';
import { Idempotent, Leading, LocksHealthIndicator, LocksModule } from '../../src/nestjs/index.ts';
import { OnceCron } from '../../src/nestjs/schedule/index.ts';
import { instrument } from '../../src/otel/index.ts';
import { changeRow, lockFree, lockRow, retryStale } from '../../src/transaction/index.ts';
import type { OptionsCall } from '../kit/engine-row.ts';
import { ENGINES } from '../kit/engines.ts';
import { memoryStore, shared } from '../kit/register-store.ts';

type Call = OptionsCall['call'];

const locks = createLocks(memory());
const stock = createStock(memoryStock(), { locks });
// Of real kinds, and never connected: options are refused before anything is sent.
const client = new Redis({ lazyConnect: true });
const ofEngines = Object.assign({}, ...(await Promise.all(Object.values(ENGINES).map((engine) => engine.options()))));
afterAll(async () => {
  client.disconnect();
  await Promise.all(Object.values<OptionsCall>(ofEngines).map((each) => each.end?.()));
  await locks.close();
});
const due = Date.now();
const where = { id: 1 };

/** Every call that takes options, and what it needs beside them. */
const calls: Record<string, OptionsCall> = {
  ...ofEngines,
  createLocks: {
    call: (options) => createLocks(memory(), options),
    inner: { spin: {}, handOff: {}, adaptive: { cap: '1m' } },
  },
  mutex: { call: (options) => locks.mutex('k', options) },
  'mutex.acquire': { call: (options) => locks.mutex('k').acquire(options), inner: { spin: {}, handOff: {} } },
  'mutex.tryAcquire': { call: (options) => locks.mutex('k').tryAcquire(options) },
  'mutex.run': { call: (options) => locks.mutex('k').run(() => {}, options) },
  rwLock: { call: (options) => locks.rwLock('k', options) },
  'read.acquire': { call: (options) => locks.rwLock('k').read.acquire(options) },
  semaphore: { call: (options) => locks.semaphore('s', options), needs: { permits: 3 } },
  'semaphore.acquire': {
    call: (options) => locks.semaphore('s', { permits: 3 }).acquire(options),
    more: ['units'],
  },
  'semaphore.run': { call: (options) => locks.semaphore('s', { permits: 3 }).run(() => {}, options) },
  all: { call: (options) => locks.all(['a', 'b'], options) },
  'all.acquire': { call: (options) => locks.all(['a', 'b']).acquire(options) },
  leader: { call: (options) => locks.leader('l', options), inner: { pause: {} } },
  'leader.run': { call: (options) => locks.leader('l').run(async () => {}, options) },
  'leader.observe': { call: (options) => locks.leader('l').observe(options) },
  once: { call: (options) => locks.once('o', due, () => {}, options) },
  inspect: { call: (options) => locks.inspect('', options) },
  waits: { call: (options) => locks.waits('', options) },
  forceRelease: { call: (options) => locks.forceRelease('f', options), needs: { reason: 'gone' } },
  quorum: { call: (options) => quorum([memory(), memory(), memory()], options) },
  register: { call: (options) => register(memoryStore(shared()), options) },
  etcdFence: { call: (options) => etcdFence(options, 'r'), needs: { endpoints: '127.0.0.1:1' } },
  redisFence: { call: (options) => redisFence(client, 'r', options) },
  sqlFence: { call: (options) => sqlFence(async () => [], 'r', options) },
  fenceColumn: { call: (options) => fenceColumn(1n, options) },
  changeRow: {
    call: (options) => changeRow(async () => [], options),
    needs: { dialect: 'postgres', table: 't', where, version: 1, set: { a: 1 } },
  },
  retryStale: { call: (options) => retryStale(async () => 1, options) },
  lockRow: { call: (options) => lockRow(async () => [], options), needs: { dialect: 'postgres', table: 't', where } },
  lockFree: { call: (options) => lockFree(async () => [], options), needs: { dialect: 'postgres', table: 't' } },
  Locked: { call: (options) => Locked(options), inner: { spin: {} } },
  locked: { call: (options) => locked(options, async () => {}), needs: { key: 'k' } },
  Leading: { call: (options) => Leading('l', options) },
  OnceCron: { call: (options) => OnceCron('* * * * *', 'o', options) },
  'LocksModule.forRoot': {
    call: (options) => LocksModule.forRoot(options),
    needs: { url: 'memory:' },
    more: ['isGlobal'],
  },
  'LocksModule.forRootAsync': {
    call: (options) => LocksModule.forRootAsync(options),
    needs: { useFactory: () => ({ url: 'memory:' }) },
  },
  isHealthy: { call: (options) => new LocksHealthIndicator(locks, () => []).isHealthy('h', options) },
  nodeCronCoordinator: { call: (options) => nodeCronCoordinator(locks, options) },
  cronerTask: { call: (options) => cronerTask(locks, 'c', () => {}, options) },
  idempotency: { call: (options) => idempotency(locks, options), needs: { scope: () => 'all' } },
  Idempotent: { call: (options) => void Idempotent(options), needs: { scope: () => 'all' } },
  instrument: { call: (options) => instrument(locks, options) },
  createStock: { call: (options) => createStock(memoryStock(), options) },
  'stock.create': { call: (options) => stock.create('p', options), needs: { units: 1 } },
  sqliteStock: { call: (options) => sqliteStock(options), needs: { path: ':memory:' } },
  redisStock: { call: (options) => redisStock(client, options) },
  sqlStock: { call: (options) => sqlStock(options), needs: { dialect: 'postgres', transaction: async () => {} } },
};

/** What the call says of these options; undefined if it takes them. */
async function refusal(call: Call, options: unknown): Promise<{ code: string; message: string } | undefined> {
  try {
    const made = (await call(options as never)) as
      | { stop?(): void; close?(): unknown; release?(): unknown }
      | undefined;
    made?.stop?.();
    await made?.close?.();
    await made?.release?.();
    return undefined;
  } catch (error) {
    return error as { code: string; message: string };
  }
}
/** The names of all options, as the call itself lists them when one is misspelt: a new one is tried here, too. */
async function namesOf(call: Call, options: object): Promise<string[]> {
  const said = await refusal(call, { ...options, misspelt: 1 });
  expect(said?.message, 'a misspelt option is refused, with the names there are').toMatch(/there (is|are) [\w, ]+$/);
  return said!.message.replace(/^.*there (is|are) /s, '').split(', ');
}
const REFUSED = /^(LOCK|STOCK)_INVALID$/;

describe('null is not taken for an option that was not given', () => {
  test.each(Object.entries(calls))('%s', async (_title, { call, needs = {}, inner = {}, more = [] }) => {
    expect(await refusal(call, null), 'null in place of the options').toMatchObject({
      code: expect.stringMatching(REFUSED),
    });
    for (const name of [...(await namesOf(call, needs)), ...more]) {
      const said = await refusal(call, { ...needs, [name]: null });
      expect(said, `${name}: null`).toMatchObject({ code: expect.stringMatching(REFUSED) });
      expect(said!.message, `the error for ${name}: null`).toContain(name);
    }
    for (const [outer, given] of Object.entries(inner)) {
      const within: Call = (options) => call({ ...needs, [outer]: options } as never);
      for (const name of await namesOf(within, given))
        expect(await refusal(within, { ...given, [name]: null }), `${outer}.${name}: null`).toMatchObject({
          code: expect.stringMatching(REFUSED),
        });
    }
  });

  test('the options behind a key', () => {
    expect(() => Locked('k', null as never)).toThrow(/must be an object, not null/);
  });

  test('a getter [lockedBy]', async () => {
    class Orders {
      get [lockedBy](): never {
        return null as never;
      }
      @Locked('k')
      async grab(): Promise<void> {}
    }
    await expect(new Orders().grab()).rejects.toThrow(/grab was given null, not Locks/);
  });
});
