import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { windowAt } from '../../products/cli/commands/history.ts';
import { Board } from '../../products/ui/board.ts';
import { type UiHandlerOptions, uiHandler } from '../../products/ui/index.ts';
import { queryOf } from '../../products/ui/query.ts';
import { Recorder } from '../../products/ui/recorder.ts';
import { snapshot } from '../../products/ui/view.ts';
import type { MemoList } from '../../products/ui/wire.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { runtimeOf } from '../../src/locks.ts';
import { Desk } from '../cli/shell.ts';

let desk: Desk;
beforeAll(() => {
  desk = new Desk();
});
afterAll(() => desk[Symbol.dispose]());

/** A service that has the page at `/locks`, behind a login by a header. */
async function service(locks: Locks, options: UiHandlerOptions = {}) {
  const page = uiHandler(locks, { ...options, path: '/locks' });
  const server = createServer((request, response) => {
    if (request.headers.authorization === 'Bearer canary') page(request, response);
    else response.writeHead(401).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/locks`,
    async [Symbol.asyncDispose]() {
      page.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A hold that is evicted, a wait in vain behind it, a hold that is given back, and one that goes on. */
async function trouble(locks: Locks, other: Locks): Promise<void> {
  await locks.mutex('pay:2').run(() => {});
  const lost = await locks.mutex('pay:1', { label: 'worker' }).acquire();
  const { promise, resolve } = Promise.withResolvers<void>();
  lost.signal.addEventListener('abort', () => resolve());
  await locks
    .mutex('pay:1', { label: 'late' })
    .acquire({ wait: 20 })
    .catch(() => {});
  await other.forceRelease('pay:1', { reason: 'it hangs' });
  await promise;
  await lost.release();
  await locks.mutex('pay:3').acquire();
}

test('a process tells who held, lost and waited in vain, and why; of its own locks and keys alone', async () => {
  const engine = memory();
  await using locks = createLocks(engine);
  await using other = createLocks(engine, { label: 'ann' });
  using recorder = new Recorder(runtimeOf(locks, '').number, 'pay:');
  await locks.mutex('other').run(() => {});
  await trouble(locks, other);
  const { entries } = recorder.history();
  expect(entries.map(({ key, what }) => `${key} ${what}`)).toEqual([
    'pay:2 released',
    'pay:1 timedOut',
    'pay:1 evicted',
    'pay:3 holds',
  ]);
  expect(entries[2]).toMatchObject({ label: 'worker', as: 'exclusive', why: expect.stringMatching(/it hangs.*ann/) });
  expect(entries[2]!.to! - entries[2]!.from, 'held for the time of the wait').toBeGreaterThanOrEqual(15);
  expect(recorder.history('pay:2').entries).toHaveLength(1);
  await locks.forceRelease('pay:3', { reason: 'the end' });
  expect(recorder.troubles.map(({ what, why }) => [what, why])).toContainEqual(['evicts', 'the end']);
});

test('many holds push out old ones, but no loss, and what is forgotten is told', async () => {
  let now = 0;
  await using locks = createLocks(memory());
  using recorder = new Recorder(runtimeOf(locks, '').number, '', () => ++now);
  const lease = await locks.mutex('lost').acquire();
  const gone = once(lease.signal, 'abort');
  await locks.forceRelease('lost', { reason: 'a test' });
  await gone;
  const before = recorder.history();
  expect([before.since, before.troublesSince]).toEqual([1, 1]);
  for (let i = 0; i < 2_500; i++) await locks.mutex('busy').run(() => {});
  const { entries, since, troublesSince } = recorder.history();
  expect(entries.filter(({ key }) => key === 'busy').length).toBeLessThanOrEqual(2_000);
  expect(entries.filter(({ key }) => key === 'busy').length).toBeGreaterThanOrEqual(1_000);
  expect(entries.filter(({ what }) => what === 'evicted' || what === 'evicts').map(({ key }) => key)).toEqual([
    'lost',
    'lost',
  ]);
  expect(since).toBeGreaterThan(1_000);
  expect(troublesSince).toBe(1);
});

test('after its end nobody listens', async () => {
  await using locks = createLocks(memory());
  const recorder = new Recorder(runtimeOf(locks, '').number, '');
  recorder[Symbol.dispose]();
  await locks.mutex('a').run(() => {});
  expect(recorder.history().entries).toEqual([]);
});

test('the page pins a loss once, with its reason, and shows the history of the open key', async () => {
  const engine = memory();
  await using locks = createLocks(engine);
  await using other = createLocks(engine, { label: 'ann' });
  using recorder = new Recorder(runtimeOf(locks, '').number, '');
  const board = new Board();
  const look = async (): Promise<void> => {
    board.begin();
    for await (const entry of locks.inspect('')) board.see(entry.key, [entry], performance.now());
    board.finish(performance.now(), 1);
  };
  const lease = await locks.mutex('pay:1', { label: 'worker' }).acquire();
  await look();
  const gone = once(lease.signal, 'abort');
  board.noteEviction('pay:1', lease.token);
  await other.forceRelease('pay:1', { reason: 'it hangs' });
  await gone;
  await look();
  const view = (query: string) =>
    snapshot(
      board,
      queryOf(new URLSearchParams(query)),
      { engine: 'e', prefix: '', mayRelease: false, began: 0, recorder },
      { now: performance.now(), pause: 1_000 },
    );
  const { losses, detail } = view('key=pay%3A1');
  expect(losses, 'seen by a look, and told by the process').toHaveLength(1);
  expect(losses[0]).toMatchObject({ end: 'evicted', from: 'worker', why: expect.stringContaining('it hangs') });
  expect(detail?.history).toMatchObject([{ end: 'evicted' }]);
  expect(view('in=order').losses).toEqual([]);
});

test('holdfast history asks processes for it, past their logins', async () => {
  const engine = memory();
  await using locks = createLocks(engine);
  await using other = createLocks(engine, { label: 'ann' });
  await using there = await service(locks);
  await trouble(locks, other);
  const ask = (...args: string[]) =>
    desk.run('history', '--from', there.url, '--header', 'authorization: Bearer canary', ...args);
  const all = await ask();
  expect(all.code).toBe(0);
  expect(all.stdout).toMatch(/AT +KEY +WHO +WHAT +TOKEN +FOR +WHY/);
  expect(all.stdout).toMatch(/pay:1 +worker +WAS EVICTED +\d+ +[\d.]+s +.*it hangs.*by ann/);
  expect(all.stdout).toMatch(/pay:1 +late +waited in vain/);
  expect(all.stdout).toMatch(/pay:3 .*holds it/);
  const lost = await ask('pay:1', '--lost', '--json');
  expect(
    lost.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).what),
  ).toEqual(['timedOut', 'evicted']);
  const two = (value: number): string => `${value}`.padStart(2, '0');
  const minutesAgo = new Date(Date.now() - 60_000 * 5);
  const before = await ask('--at', `${two(minutesAgo.getHours())}:${two(minutesAgo.getMinutes())}`);
  expect([before.code, before.stdout]).toEqual([0, '']);
  expect(before.stderr, 'it says what it cannot know').toMatch(/^0 of .*it knows all since 20/);
});

test.each([
  ['a login', ['--from', 'URL'], 69, /wants a login \(401\)/],
  ['no page', ['--from', 'URL/elsewhere', '--header', 'authorization: Bearer canary'], 69, /no page of holdfast/],
  ['no server', ['--from', 'http://127.0.0.1:1/locks'], 69, /gave no history/],
  ['no address', [], 64, /--from is missing/],
  ['a wrong address', ['--from', 'locks'], 64, /--from is "locks"/],
  ['a wrong time', ['--from', 'URL', '--at', 'noon'], 64, /--at is "noon"/],
] as const)('%s is told', async (_name, args, code, message) => {
  await using locks = createLocks(memory());
  await using there = await service(locks);
  const outcome = await desk.run('history', ...args.map((arg) => arg.replace('URL', there.url)));
  expect([outcome.code, outcome.stdout]).toEqual([code, '']);
  expect(outcome.stderr).toMatch(message);
});

test('a time without a date is one of the last 24 hours', () => {
  const now = new Date(2026, 4, 4, 12, 0, 0).getTime();
  const at = (...time: [number, number, number, number, number?, number?]): number => new Date(...time).getTime();
  expect(windowAt('02:57', now)).toEqual({ from: at(2026, 4, 4, 2, 57), to: at(2026, 4, 4, 2, 58) });
  expect(windowAt('13:00:07', now)).toEqual({ from: at(2026, 4, 3, 13, 0, 7), to: at(2026, 4, 3, 13, 0, 8) });
  expect(windowAt('2026-01-31T02:57', now).from).toBe(at(2026, 0, 31, 2, 57));
  expect(windowAt('2026-05-04T02:57:30Z', now).from).toBe(Date.UTC(2026, 4, 4, 2, 57, 30));
});

test('memos are listed without what they keep, and forgotten only where the page may change something', async () => {
  await using locks = createLocks(memory());
  const forgotten: string[] = [];
  await using reads = await service(locks);
  await using writes = await service(locks, { readOnly: false, forgot: (key) => forgotten.push(key) });
  await locks.memo('pay:1', { keep: '1m' }).run(() => 'canary-of-a-value');
  const headers = { authorization: 'Bearer canary', 'content-type': 'application/json' };
  const list = await (await fetch(`${reads.url}/memos?in=pay`, { headers })).text();
  expect(JSON.parse(list) as MemoList).toMatchObject({ memos: [{ key: 'pay:1', state: 'kept' }], more: false });
  expect(list).not.toContain('canary');
  const forget = (url: string, body: object) =>
    fetch(`${url}/forget`, {
      method: 'POST',
      headers: { ...headers, origin: new URL(url).origin },
      body: JSON.stringify(body),
    });
  expect((await forget(reads.url, { key: 'pay:1' })).status).toBe(403);
  expect((await forget(writes.url, {})).status).toBe(400);
  expect(await (await forget(writes.url, { key: 'pay:1' })).json()).toEqual({ forgotten: true });
  expect(await (await forget(writes.url, { key: 'pay:1' })).json()).toEqual({ forgotten: false });
  expect(forgotten).toEqual(['pay:1']);
});
