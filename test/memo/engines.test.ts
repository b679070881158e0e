import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import type { Memo } from '../../src/index.ts';
import { startEtcd } from '../kit/etcd.ts';
import { MYSQL_KINDS } from '../kit/mysql-kinds.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import { startProxy } from '../kit/proxy.ts';
import { startRedis } from '../kit/redis.ts';
import type { Part } from '../kit/selection.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { settleWithin } from '../kit/wait.ts';
import { startZookeeper } from '../kit/zookeeper.ts';
import type { MemoCalls } from './memo.worker.ts';

type Engine = Pick<Server, 'url' | 'port'> & AsyncDisposable & { readonly ttl?: number };

/** Its locks last as long as the session, and a session of less is lost on a busy machine. */
async function zookeeper(): Promise<Engine> {
  const ttl = 4_000;
  const server = await startZookeeper({ tickTime: '200' });
  const url = `${server.url}?sessionTimeout=${ttl}`;
  return { url, port: server.port, ttl, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Each engine that a process dies on without a sign, so that the lease alone tells. */
const ENGINES: readonly (readonly [string, Part | readonly Part[], () => Promise<Engine>])[] = [
  ['PostgreSQL', 'postgres', startPostgres],
  ['Redis', 'redis', startRedis],
  ['etcd', 'etcd', startEtcd],
  ['ZooKeeper', 'zookeeper', zookeeper],
  ...MYSQL_KINDS.map(({ name, need, start }) => [name, ['mysql', need], start] as const),
];
const CALLERS = 5;
const TTL = 1_500;
const SOON = 15_000;

for (const [name, part, open] of ENGINES) {
  describeOn(part, `memos on ${name}`, () => {
    let server: Engine;
    let ttl: number;
    beforeAll(async () => {
      server = await open();
      ttl = server.ttl ?? TTL;
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose]());

    const start = (): Promise<WorkerProcess<MemoCalls>> =>
      startWorker(new URL('memo.worker.ts', import.meta.url), { env: { URL: server.url } });

    test('a refresh that was begun too often is not begun again, and all have the old result', {
      timeout: 2 * SOON,
    }, async () => {
      const all = await Promise.all([connect(server.url), connect(server.url)]);
      const options = { keep: '1h', refresh: 1, attempts: 2, rest: 2_500, ttl } as const;
      const [memo, other] = all.map((locks) => locks.memo<number>('due', options)) as [Memo<number>, Memo<number>];
      await memo.run(() => 1);
      let runs = 0;
      const fails = (): never => {
        runs++;
        throw new Error('no database');
      };
      let failed = 0;
      for (const each of [memo, other]) {
        await sleep(10); // it is due
        failed = performance.now();
        expect(await each.run(fails)).toMatchObject({ value: 1, ran: false });
      }
      for (const each of [memo, other]) expect(await each.run(fails)).toMatchObject({ value: 1, ran: false });
      expect(runs).toBe(2);
      let again = await other.run(() => 2);
      for (; !again.ran; again = await other.run(() => 2)) await sleep(100);
      expect(again).toMatchObject({ value: 2, ran: true });
      expect(performance.now() - failed, 'ms since it failed').toBeGreaterThan(2_500);
      await Promise.all(all.map((locks) => locks.close()));
    });

    test('of all callers of two processes one runs, and everybody has its result', async () => {
      await using first = await start();
      await using second = await start();
      const calls = [first, second].map((process) => process.call('ask', 'once', CALLERS));
      const begun = await Promise.race(
        [first, second].map((process) => process.nextEvent('started').then(() => process)),
      );
      await begun.call('end', 'once', 'the result');
      const results = await settleWithin('all have it', Promise.all(calls), SOON);
      expect(results.map(({ ran }) => ran).toSorted(), 'callers that ran').toEqual([0, 1]);
      expect(results.flatMap(({ values }) => values)).toEqual(Array(2 * CALLERS).fill('the result'));
      expect(new Set(results.flatMap(({ tokens }) => tokens)).size, 'tokens').toBe(1);
      expect((await second.call('ask', 'once', 1)).ran, 'it is kept').toBe(0);
    });

    test('after the death of the runner the next one runs, and no sooner than its lease is over', async () => {
      await using dying = await start();
      await using next = await start();
      dying.call('ask', 'killed', 1, ttl).catch(() => {});
      await dying.nextEvent('started');
      const waiting = next.call('ask', 'killed', CALLERS, ttl);
      await dying.kill();
      const killed = performance.now();
      await next.nextEvent('started', ttl + SOON);
      // It had been renewed a third of the lease ago at most.
      expect(performance.now() - killed, 'ms until the next one ran').toBeGreaterThan(ttl / 2);
      await next.call('end', 'killed', 'of the next');
      const { values, ran } = await settleWithin('all have it', waiting, SOON);
      expect({ values, ran }).toEqual({ values: Array(CALLERS).fill('of the next'), ran: 1 });
    });

    test('a result of which the engine’s reply is lost is there for all, and nobody runs again', async () => {
      await using proxy = await startProxy(server.port);
      await using stack = new AsyncDisposableStack();
      const [runner, other] = [server.url.replace(`:${server.port}`, `:${proxy.port}`), server.url].map(async (url) =>
        stack.use(await connect(url)),
      );
      // It counts its attempts, so that each engine keeps the result in one statement.
      const options = { keep: '1h', attempts: 9 } as const;
      let runs = 0;
      const lost = proxy.cutAfter('made once');
      const running = (await runner!).memo<string>('lost', options).run(() => {
        runs++;
        return 'made once';
      });
      await settleWithin('the reply is lost', lost, SOON);
      const again = (await other!).memo<string>('lost', options).run(() => {
        runs++;
        return 'made again';
      });
      const { value, ran } = await settleWithin('another has it', again, SOON);
      expect({ value, ran, runs }).toEqual({ value: 'made once', ran: false, runs: 1 });
      expect((await settleWithin('the runner has it', running, SOON)).value).toBe('made once');
    });
  });
}
