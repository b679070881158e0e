/** What it takes to have a result that a memo has kept. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { createLocks, type Locks, type MemoOptions, type MemoWait } from '../../../src/index.ts';
import { Monitor } from '../../kit/monitor.ts';
import { startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { Fleet } from './fleet.ts';
import { granted, wish } from './scene.ts';

const HOUR = 3_600_000;
const KEPT = { keep: '1h' } as const;
const again = (): string => 'ran again';

const refuses = (): never => {
  throw new Error('not mine');
};

/** The ways in which one may wait: those that cannot give up before the look ends, and those that can. */
const WAITS: Readonly<Record<string, MemoWait | undefined>> = {
  'without a limit': undefined,
  'for longer than the engine may take': { wait: '1m' },
  'for a second': { wait: '1s' },
  'not at all': { wait: 0 },
  'until a signal': { signal: new AbortController().signal },
};

describeOn('redis', 'a kept result', () => {
  let server: Server;
  let fleet: Fleet;
  let locks: Locks;
  let other: Locks;
  let monitor: Monitor;

  /** The names of the commands of all clients since the last time, without what one says of itself when it is opened. */
  const commands = async (): Promise<string[]> =>
    (await monitor.commands())
      .map(([name]) => name!.toLowerCase())
      .filter((name) => !/^(hello|info|client|subscribe)$/.test(name));

  const open = async (): Promise<Locks> => createLocks(await fleet.backend(), { ttl: '2s' });

  beforeAll(async () => {
    server = await startRedis();
    fleet = new Fleet(server.port);
    monitor = await Monitor.start(server.port);
    locks = await open();
    other = await open();
    for (const each of [locks, other]) await each.memo('warm', KEPT).run(() => 1);
  });
  afterAll(async () => {
    monitor[Symbol.dispose]();
    await Promise.all([locks.close(), other.close()]);
    await fleet[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  test.each(Object.entries(WAITS))('is had by one GET by a caller that waits %s', async (name, wait) => {
    const made = await locks.memo(name, KEPT).run(() => ({ n: 1 }));
    await commands();
    const hit = await other.memo(name, KEPT).run(again as never, wait);
    expect(await commands()).toEqual(['get']);
    expect(hit).toEqual({
      ...{ value: { n: 1 }, ran: false, kept: true, token: made.token },
      at: expect.any(Date),
    });
    expect(Math.abs(hit.at.getTime() - made.at.getTime()), 'ms').toBeLessThan(50);
  });

  test('is had by all callers of a process by one GET, however they wait, and each has a value of its own', async () => {
    await locks.memo('shared', KEPT).run(() => ({ n: 1 }));
    await commands();
    const memo = other.memo<{ n: number }>('shared', KEPT);
    const hits = await Promise.all(Object.values(WAITS).flatMap((wait) => [memo.run(again as never, wait)]));
    expect(await commands()).toEqual(['get']);
    expect(hits.map(({ value }) => value)).toEqual(hits.map(() => ({ n: 1 })));
    expect(new Set(hits.map(({ value }) => value)).size).toBe(hits.length);
  });

  test('is not asked for by a caller whose signal was aborted before', async () => {
    await locks.memo('aborted', KEPT).run(() => 1);
    await commands();
    const call = other.memo('aborted', KEPT).run(again as never, { signal: AbortSignal.abort('enough') });
    await expect(call).rejects.toMatchObject({ code: 'LOCK_ABORTED', cause: 'enough' });
    expect(await commands()).toEqual([]);
  });

  test('a first caller costs three commands, also after hits and when the result is gone', async () => {
    const memo = other.memo<string>('first', KEPT);
    await commands();
    await memo.run(() => 'made');
    expect(await commands()).toEqual(['get', 'evalsha', 'evalsha']);
    await memo.run(again);
    await memo.forget();
    await commands();
    expect(await memo.run(again)).toMatchObject({ value: 'ran again', ran: true });
    expect(await commands()).toEqual(['get', 'evalsha', 'evalsha']);
  });

  test('is seen by the next call when another process forgets it, or has a newer one', async () => {
    const [mine, theirs] = [locks, other].map((each) => each.memo<string>('newer', KEPT));
    await mine!.run(() => 'first');
    expect((await theirs!.run(again)).value).toBe('first');
    await mine!.forget();
    const { token } = await mine!.run(() => 'second');
    expect(await theirs!.run(again)).toMatchObject({ value: 'second', ran: false, token });
    await mine!.forget();
    expect(await theirs!.run(again)).toMatchObject({ value: 'ran again', ran: true });
  });

  const seal = { seal: (text: string) => `<${text}>`, open: (text: string) => text.slice(1, -1) };
  const text = (words: string) => async (key: string) => {
    const backend: Backend = await fleet.backend();
    const claim = wish(key);
    granted(await backend.attempt(claim));
    await backend.store!(claim, { text: words, ttl: HOUR });
    await backend.close();
  };
  const fails = (options: MemoOptions) => (key: string) =>
    expect(locks.memo(key, { ...KEPT, ...options }).run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');

  describe.each<[string, (key: string) => Promise<unknown>, MemoOptions<unknown>, string]>([
    ['of another request', (key) => locks.memo(key, { ...KEPT, match: 1 }).run(() => 1), { match: 2 }, 'LOCK_MISMATCH'],
    ['that is an error', fails({ keepError: () => '1h' }), {}, 'LOCK_FAILED'],
    ['that is the end of all attempts', fails({ attempts: 1 }), { attempts: 1 }, 'LOCK_POISONED'],
    [
      'that could not be kept',
      (key) =>
        locks
          .memo(key, KEPT)
          .run(() => () => 1)
          .catch(() => {}),
      {},
      'LOCK_INVALID',
    ],
    [
      'that is too large',
      (key) =>
        locks
          .memo(key, KEPT)
          .run(() => 'x'.repeat(70_000))
          .catch(() => {}),
      {},
      'LOCK_TOO_LARGE',
    ],
    ['that is sealed', (key) => locks.memo(key, { ...KEPT, seal }).run(() => 'secret'), {}, 'LOCK_INVALID'],
    ['that decode() refuses', (key) => locks.memo(key, KEPT).run(() => 1), { decode: refuses }, 'LOCK_INVALID'],
    ['of a newer version', text('2 kept plain - 1'), {}, 'LOCK_INVALID'],
    ['that is broken', text('rubbish'), {}, 'LOCK_INVALID'],
  ])('%s', (name, leave, options, code) => {
    test('is the same error for all, and nobody runs', async () => {
      await leave(name);
      const errors = Object.values(WAITS).map((wait) =>
        other
          .memo(name, { ...KEPT, ...options })
          .run(again as never, wait)
          .catch((error) => error),
      );
      const all = await Promise.all(errors);
      expect(all.map((error) => ({ code: error.code, message: error.message }))).toEqual(
        all.map(() => ({ code, message: all[0].message })),
      );
    });
  });

  test('a server that stands still ends the wait of each caller in time, and the others have it when it goes on', async () => {
    await locks.memo('still', KEPT).run(() => 'kept');
    const memo = other.memo<string>('still', KEPT);
    await memo.run(again);
    server.pause();
    const stop = new AbortController();
    const began = performance.now();
    const patient = memo.run(again);
    const limited = memo.run(again, { wait: 200 });
    const signalled = memo.run(again, { signal: stop.signal });
    await expect(limited).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(performance.now() - began, 'ms').toBeLessThan(1_000);
    stop.abort('enough');
    await expect(signalled).rejects.toMatchObject({ code: 'LOCK_ABORTED', cause: 'enough' });
    server.resume();
    expect(await patient).toMatchObject({ value: 'kept', ran: false });
  });

  test('a server that stands still for longer than a call may take is waited for, to the end of the wait', async () => {
    await locks.memo('silent', KEPT).run(() => 'kept');
    const memo = other.memo<string>('silent', KEPT);
    await memo.run(again);
    server.pause();
    const patient = memo.run(again);
    const began = performance.now();
    await expect(memo.run(again, { wait: 5_300 })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(performance.now() - began, 'ms').toBeGreaterThanOrEqual(5_299);
    expect(performance.now() - began, 'ms').toBeLessThan(6_500);
    server.resume();
    expect(await patient).toMatchObject({ value: 'kept', ran: false });
  }, 30_000);

  test('Locks that are closed give none', async () => {
    await locks.memo('closed', KEPT).run(() => 1);
    const closing = await open();
    const memo = closing.memo('closed', KEPT);
    await memo.run(again as never);
    await closing.close();
    await expect(memo.run(again as never)).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  });
});
