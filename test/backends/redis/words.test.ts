import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Backend, Grant, Left } from '../../../src/core/contract/backend.ts';
import { NO_MARK } from '../../../src/core/contract/left.ts';
import { createLocks } from '../../../src/index.ts';
import { around } from '../../../src/testing/around.ts';
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

  /**
   * Leaves words while so many claims wait, and gives what each of them is told first, and the ticket of the words.
   * @param unread the process stands still for so many ms then
   */
  async function told(key: string, text: string, count: number, { ttl = 60_000, unread = 0 } = {}) {
    const holder = wish(key, { answered: ANY });
    const { ticket } = granted(await backend.attempt(holder));
    await using stack = new AsyncDisposableStack();
    const news: Promise<{ grant: Grant | undefined; left: Left | undefined }>[] = [];
    for (let n = 0; n < count; n++) {
      const claim = wish(key, { answered: ANY });
      const { promise, resolve } = Promise.withResolvers<{ grant: Grant | undefined; left: Left | undefined }>();
      stack.use(await backend.watch!(claim, (grant, left) => resolve({ grant, left })));
      expect(await backend.attempt(claim)).toMatchObject({ granted: false });
      news.push(promise);
    }
    const released = backend.release(holder, undefined, { text, ttl });
    if (unread > 0) {
      await new Promise(setImmediate); // it is sent
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, unread);
    }
    expect(await released).toMatchObject({ freed: true, left: true });
    return { ticket, news: await Promise.all(news) };
  }

  test('a claim that waits has the words with its wake, also the one whose turn it is', async () => {
    const text = '1 two\nlines: \u{1F512} ask x';
    const { ticket, news } = await told('carried', text, 2);
    const left = { text, ticket, age: expect.closeTo(0, -2), validFor: expect.closeTo(60_000, -2) };
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
      release: (handle, next, leave) => {
        asked.push('release');
        return engine.release(handle, next, leave);
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
