import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import type { Backend, Grant, StoredValue } from '../../../src/core/contract/backend.ts';
import { NO_MARK } from '../../../src/core/contract/values.ts';
import { createLocks } from '../../../src/index.ts';
import { startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { Fleet } from './fleet.ts';
import { granted, wish } from './scene.ts';

const ANY = { age: Number.POSITIVE_INFINITY, mark: NO_MARK, counts: 0 };

describeOn('redis', 'words that wake', () => {
  let server: Server;
  let fleet: Fleet;
  let backend: Backend;

  beforeAll(async () => {
    server = await startRedis();
    fleet = new Fleet(server.port);
    backend = await fleet.backend();
  });
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** A claim that waits, and what it is told first. */
  async function waiting(key: string, stack: AsyncDisposableStack) {
    const claim = wish(key, { accepts: ANY });
    const { promise: news, resolve } = Promise.withResolvers<{
      grant: Grant | undefined;
      left: StoredValue | undefined;
    }>();
    stack.use(await backend.watch!(claim, (grant, left) => resolve({ grant, left })));
    expect(await backend.attempt(claim)).toMatchObject({ granted: false });
    return { claim, news };
  }

  /**
   * Leaves words while so many claims wait, and gives what each of them is told first, and the token of the words.
   * @param unread the process stands still for so many ms then
   */
  async function told(key: string, text: string, count: number, { ttl = 60_000, unread = 0 } = {}) {
    const holder = wish(key, { accepts: ANY });
    const { token } = granted(await backend.attempt(holder));
    await using stack = new AsyncDisposableStack();
    const news: Awaited<ReturnType<typeof waiting>>['news'][] = [];
    for (let n = 0; n < count; n++) news.push((await waiting(key, stack)).news);
    const released = backend.store!(holder, { text, ttl });
    if (unread > 0) {
      await new Promise(setImmediate); // it is sent
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, unread);
    }
    expect(await released).toBe(true);
    return { token, news: await Promise.all(news) };
  }

  test('a claim that waits has the words with its wake, also the one whose turn it is', async () => {
    const text = '1 two\nlines: \u{1F512} ask x';
    const { token, news } = await told('carried', text, 2);
    const left = { text, token, age: expect.closeTo(0, -2), validFor: expect.closeTo(60_000, -2) };
    expect(news).toEqual([
      { grant: undefined, left },
      { grant: undefined, left },
    ]);
  });

  test('words that lie unread for a while have the age that they have by then', async () => {
    const { news } = await told('old', 'x', 1, { unread: 300 });
    const left = news[0]!.left!;
    expect(left.age, 'ms').toBeGreaterThanOrEqual(250);
    expect(left.age + left.validFor, 'ms').toBeCloseTo(60_000, 0);
  });

  test('words that are over when they are read are not told: the claim asks', async () => {
    const { news } = await told('over', 'x', 1, { ttl: 100, unread: 300 });
    expect(news).toEqual([{ grant: undefined, left: undefined }]);
  });

  test.each([
    ['of 4,096 bytes go with the wake', 'x'.repeat(4_096), true],
    ['of 4,097 bytes do not', `${'x'.repeat(4_095)}\u00E9`, false],
  ])('words %s', async (_, text, carried) => {
    const { news } = await told(`size ${carried}`, text, 1);
    expect(news).toEqual([{ grant: undefined, left: carried ? expect.objectContaining({ text }) : undefined }]);
  });

  test('words are told to the first 50 that wait; who is behind them hears first of the words of the next hold', async () => {
    const holder = wish('many', { accepts: ANY });
    granted(await backend.attempt(holder));
    await using stack = new AsyncDisposableStack();
    const waiters: Awaited<ReturnType<typeof waiting>>[] = [];
    for (let n = 0; n < 51; n++) waiters.push(await waiting('many', stack));
    expect(await backend.store!(holder, { text: 'first', ttl: 60_000 })).toBe(true);
    expect(await backend.store!(waiters[0]!.claim, { text: 'next', ttl: 60_000 })).toBe(true);
    const texts = (await Promise.all(waiters.map(({ news }) => news))).map(({ left }) => left?.text);
    expect(texts).toEqual([...Array(50).fill('first'), 'next']);
  });

  test('a waiter whose record is lost keeps no words from those behind it', async () => {
    const holder = wish('torn', { accepts: ANY });
    granted(await backend.attempt(holder));
    await using stack = new AsyncDisposableStack();
    const lost = await waiting('torn', stack);
    const { news } = await waiting('torn', stack);
    expect(await fleet.ioredis().hdel('holdfast:{torn}:claims', lost.claim.id), 'records removed').toBe(1);
    expect(await backend.store!(holder, { text: 'x', ttl: 60_000 })).toBe(true);
    expect((await news).left?.text).toBe('x');
  });

  test('a place that is given up with words leaves none, frees no hold, and is gone', async () => {
    granted(await backend.attempt(wish('place')));
    const waiter = wish('place', { accepts: ANY });
    await backend.attempt(waiter);
    expect(await backend.attempt(wish('place', { queue: false }))).toMatchObject({ ahead: 2 });
    const released = await backend.store!(waiter, { text: 'x', ttl: 60_000 });
    expect(released).toBe(false);
    expect(await backend.values!.look('place')).toEqual({ attempts: 0, mark: NO_MARK, begun: 0n });
    expect(await backend.attempt(wish('place', { queue: false }))).toMatchObject({ ahead: 1 });
  });

  test('a hold whose lock was deleted leaves no words, though its line is still there', async () => {
    const holder = wish('deleted', { accepts: ANY });
    granted(await backend.attempt(holder));
    await backend.attempt(wish('deleted'));
    expect(await fleet.ioredis().del('holdfast:{deleted}'), 'locks deleted').toBe(1);
    expect(await backend.store!(holder, { text: 'x', ttl: 60_000 })).toBe(false);
    expect(await backend.values!.look('deleted')).toEqual({ attempts: 0, mark: NO_MARK, begun: 0n });
  });

  test('a claim that does not count leaves the attempts of its key, and the mark, as they are', async () => {
    const counted = () => wish('attempts', { accepts: { ...ANY, mark: 'm1', counts: 600_000 } });
    for (const claim of [counted(), wish('attempts', { accepts: { ...ANY, mark: 'm2' } })]) {
      granted(await backend.attempt(claim));
      await backend.release(claim);
    }
    expect(await backend.values!.look('attempts')).toEqual({ attempts: 1, mark: 'm1', begun: expect.any(BigInt) });
    expect(granted(await backend.attempt(counted())).attempts).toBe(2);
  });

  test('what the server keeps of a key vanishes when nothing of it counts any more', async () => {
    const lives = () => fleet.ioredis().pttl('holdfast:{vanishes}:value');
    const holder = wish('vanishes', { ttl: 30_000, accepts: { ...ANY, counts: 600_000 } });
    granted(await backend.attempt(holder));
    expect(await lives(), 'the attempts, ms').toBeCloseTo(630_000, -4);
    await backend.store!(holder, { text: 'x', ttl: 60_000 });
    expect(await lives(), 'the words, ms').toBeCloseTo(60_000, -4);
  });

  test.each([
    ['of another type', ['lpush', 'x'], /WRONGTYPE/],
    ['of another format', ['set', '2 words of a later version'], /HOLDFAST the key holds something else/],
  ] as const)('words %s are refused, with no word of the script, and stay', async (kind, [write, text], says) => {
    const client = fleet.ioredis();
    await client.call(write, `holdfast:{${kind}}:value`, text);
    const stored = await client.dump(`holdfast:{${kind}}:value`);
    const asks = backend.attempt(wish(kind, { accepts: ANY }));
    const error = await asks.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: 'LOCK_UNAVAILABLE', message: expect.stringMatching(says) });
    expect(`${error}`).not.toMatch(/user_script/);
    expect(await client.dump(`holdfast:{${kind}}:value`), 'the key').toBe(stored);
    expect(await backend.attempt(wish(kind)), 'a claim that asks for no words').toMatchObject({ granted: true });
  });

  test.each([
    ['any age asks no more, and takes its place back', '1h', ['attempt', 'release']],
    ['those who wait alone asks whether it did', 0, ['attempt', 'attempt']],
  ] as const)('a process that is told words for %s', async (_, keep, commands) => {
    const engine = await fleet.backend();
    await using _open = await engine.watch!(wish('open'), () => {}); // the channel, before anybody waits
    const asked: string[] = [];
    const waits = Promise.withResolvers<void>();
    const counted = around(engine, {
      attempt: async (claim) => {
        asked.push('attempt');
        const attempt = await engine.attempt(claim);
        waits.resolve();
        return attempt;
      },
      release: (handle, next) => {
        asked.push('release');
        return engine.release(handle, next);
      },
      store: (handle, value) => {
        asked.push('release');
        return engine.store!(handle, value);
      },
    });
    const [runner, other] = [createLocks(await fleet.backend()), createLocks(counted)];
    const begins = Promise.withResolvers<void>();
    const work = Promise.withResolvers<string>();
    const runs = runner.memo<string>(`told ${keep}`, { keep }).run(() => {
      begins.resolve();
      return work.promise;
    });
    await begins.promise;
    const hears = other.memo<string>(`told ${keep}`, { keep }).run(() => 'again');
    await waits.promise;
    await sleep(50); // two machines count so little time unlike: who waited less might have come too late
    work.resolve('made');
    expect(await hears).toMatchObject({ value: 'made', ran: false, kept: true, token: (await runs).token });
    await Promise.all([runner.close(), other.close()]);
    expect(asked).toEqual(commands);
    expect(await backend.attempt(wish(`told ${keep}`))).toMatchObject({ granted: true });
  });
});
