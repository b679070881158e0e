/** Blocks that name no server. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { useLocks } from '../../../src/decorator/index.ts';
import type { Locks } from '../../../src/index.ts';
import { breaksAndIsOpenedAgain } from '../../examples/broken-connection.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { timerOf } from '../../kit/timer.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { example, found, moduleOf, together } from '../block.ts';
import { closeAll, createLocks } from '../tracked.ts';
import { criticalSection, expectOneAtATime } from './exclusive.ts';

/** Instances of a service over one engine. */
let engine: Backend;
let instances: Locks[];
let locks: Locks;
let logged: unknown[][];
let console: { log(...words: unknown[]): void };
beforeEach(() => {
  engine = memory();
  instances = [createLocks(engine), createLocks(engine), createLocks(engine)];
  locks = instances[0]!;
  logged = [];
  console = { log: (...words) => void logged.push(words) };
});
afterEach(closeAll);

const TOKEN = expect.any(BigInt) as bigint;

test('docs/README.md: a lease by hand, and one that never waits', async () => {
  const { lease } = await example('docs/README.md', 'What is in the box')({ console });
  const [[token, remaining, held]] = logged as [[bigint, number, boolean]];
  expect([token > 0n, remaining > 29_000 && remaining <= 30_000, held]).toEqual([true, true, true]);
  expect(lease.token > token).toBe(true);
});

test('memory: locks that are closed give nothing any more', async () => {
  const made = await example('docs/backends/file.md', 'In one minute', 2)();
  await expect(made.locks.mutex('cache').acquire()).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
});

test('file: two that have the path are inside one after the other', async () => {
  using folder = temporaryFolder();
  await expectOneAtATime(found('docs/backends/file.md', 'In one minute'), {
    '/var/lib/shop/locks.db': `${folder.path}/locks.db`,
  });
});

test('README.md: of four that pay one order, one charges, and the order keeps its token', async () => {
  using folder = temporaryFolder();
  const inside = (name: string): string => join(folder.path, name);
  const files = { './locks.db': inside('locks.db'), 'orders.db': inside('orders.db'), 'bank.log': inside('bank.log') };
  const results = await together(found('README.md', 'Install'), [{}, {}, {}, {}], files);
  for (const result of results) {
    expect(result.status).toBe('fulfilled');
    if (result.status === 'fulfilled') result.value.orders.close();
  }
  expect(readFileSync(files['bank.log'], 'utf8')).toBe('charged for order 42\n');
  using orders = new DatabaseSync(files['orders.db']);
  expect(orders.prepare('select state, fence > 0 as fenced from orders').all()).toEqual([{ state: 'paid', fenced: 1 }]);
});

test('README.md: the same by an address', async () => {
  const { locks } = await example('README.md', 'On your engine', 3)({}, { 'redis://127.0.0.1': 'memory:' });
  expect(await locks.mutex('order:42').run((lease: { token: bigint }) => lease.token)).toEqual(TOKEN);
  await locks.close();
});

test('the tutorial and frameworks: the locks on a file', async () => {
  using folder = temporaryFolder();
  const path = `${folder.path}/locks.db`;
  const tutorial = await example('docs/start-2.md', '5. Move to Redis', 3)({}, { 'locks.db': path });
  const frameworks = await example('docs/guides/frameworks.md', 'The engine', 3)({}, { './locks.db': path });
  await tutorial.locks.mutex('order:42').run(async () => {
    expect(await frameworks.locks.mutex('order:42').tryAcquire()).toBeNull();
  });
  for (const { locks } of [tutorial, frameworks]) await locks.close();
});

test('throttle: of calls in three processes one works, and none for the rest of the minute', async () => {
  const work = vi.fn(async () => {});
  const throttled = example('docs/troubleshooting.md', 'Debounce, throttle');
  await Promise.all(instances.map((locks) => throttled({ locks, work })));
  await throttled({ locks, work });
  expect(work).toHaveBeenCalledTimes(1);
});

test('adaptive leases: the work has the signal of its lease', async () => {
  const rebuild = vi.fn();
  await example('docs/guides/advanced.md', 'Adaptive leases')({ locks, rebuild });
  expect(rebuild.mock.calls).toEqual([[expect.any(AbortSignal)]]);
});

test('deadlocks: of two that wait for each other, one is told', async () => {
  const [here, there] = instances as [Locks, Locks];
  const inB = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const other = there.mutex('b').run(async () => {
    inB.resolve();
    await go.promise;
    await there.mutex('a').run(() => {}, { detect: true });
  });
  await inB.promise;
  const one = example('docs/guides/advanced.md', 'Detecting a deadlock')({ locks: here });
  await until('it waits for b', async () => (await here.waits()).edges.length > 0);
  go.resolve();
  const results = await settleWithin('the deadlock ends', Promise.allSettled([one, other]));
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []));
  expect(errors).toEqual(['LOCK_DEADLOCK']);
});

test('deadlocks: who is told tries again, and both get through', async () => {
  const told: unknown[] = [];
  const hear = (event: unknown): void => void told.push((event as { error: { code: string } }).error.code);
  subscribe('holdfast:failed', hear);
  const [here, there] = instances as [Locks, Locks];
  const results = await settleWithin(
    'both are through',
    together(
      found('docs/guides/advanced.md', 'Detecting a deadlock', 2),
      [
        { locks: here, one: 'a', other: 'b' },
        { locks: there, one: 'b', other: 'a' },
      ],
      { "'a'": 'one', "'b'": 'other' },
    ),
    20_000,
  );
  unsubscribe('holdfast:failed', hear);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  expect(told).toContain('LOCK_DEADLOCK');
});

test('deadlocks: who waits for whom is listed', async () => {
  const [here, there] = instances as [Locks, Locks];
  await using held = await here.mutex('a').acquire({ label: 'holder' });
  const stop = new AbortController();
  const waiting = there.mutex('b').run(() => there.mutex('a').run(() => {}, { signal: stop.signal }));
  await until('it waits', async () => (await here.waits()).edges.length > 0);
  const { claims, edges, deadlocks } = await example(
    'docs/guides/advanced.md',
    'Seeing a deadlock',
  )({ locks, console });
  expect([deadlocks, edges.length]).toEqual([[], 1]);
  expect(logged).toEqual([[edges[0].from, edges[0].why, edges[0].to], [claims.length]]);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
  expect(held.held).toBe(true);
});

test('@Locked: an object says which locks its methods take', async () => {
  const { Reports } = await example('docs/guides/frameworks.md', 'Which `Locks`')();
  const held = await locks.mutex('report:monday').acquire();
  const build = new Reports(instances[1]).build('monday');
  await until('it waits', async () => {
    for await (const { held } of locks.inspect('report:monday')) if (!held) return true;
    return false;
  });
  await held.release();
  await settleWithin('it is built', build);
});

test('@Locked: a function under a lock is left out while another has it', async () => {
  using _ = useLocks(locks);
  const { rebuild } = await example('docs/guides/frameworks.md', 'Which `Locks`', 2)();
  expect(await rebuild('monday')).toBe(6);
  await using __ = await instances[1]!.mutex('report:monday').acquire();
  expect(await rebuild('monday')).toBeUndefined();
});

test('errors: who waits in vain is told so, and has not paid', async () => {
  await using _ = await instances[1]!.mutex('order:42').acquire();
  const [pay, show] = [vi.fn(), vi.fn()];
  await example('docs/troubleshooting.md', 'Errors')({ locks, pay, show }, { "'5s'": "'20ms'" });
  expect([pay.mock.calls.length, show.mock.calls]).toEqual([0, [['Somebody is at it. Try again later.']]]);
});

test('leading: who asks is told who leads', async () => {
  const stop = new AbortController();
  const leads = instances[1]!
    .leader('scheduler', { label: 'web-3' })
    .run((term) => new Promise((resolve) => term.signal.addEventListener('abort', resolve)), { signal: stop.signal });
  await until('it leads', async () => (await locks.leader('scheduler').current()) !== null);
  await example('docs/guides/leading.md', 'Who leads')({ locks, console });
  expect(logged).toEqual([[expect.objectContaining({ label: 'web-3', token: TOKEN })], ['web-3']]);
  stop.abort();
  await leads;
});

test('operating: waits, holds and losses are measured by kind of key', async () => {
  const [histogram, count, error] = [vi.fn(), vi.fn(), vi.fn()];
  await example('docs/production.md', 'Events')({ metrics: { histogram, count }, log: { error } });
  await locks.mutex('order:42').run(() => {});
  const lost = await locks.mutex('order:43').acquire();
  await locks.forceRelease('order:43', { reason: 'a test' });
  await until('it is lost', () => !lost.held || lost.signal.aborted);
  const about = { backend: 'memory', kind: 'order' };
  expect(histogram).toHaveBeenCalledWith('lock_wait_ms', expect.any(Number), about);
  expect(histogram).toHaveBeenCalledWith('lock_held_ms', expect.any(Number), about);
  await until('it is counted', () => count.mock.calls.length > 0, 15_000);
  expect(count).toHaveBeenCalledWith('lock_lost', about);
  expect(error.mock.calls[0]![0]).toMatchObject({ key: 'order:43', error: { code: 'LOCK_LOST' } });
});

test('operating: a listing says who holds and who waits, and a forced release ends the hold', async () => {
  const held = await instances[1]!.mutex('order:42').acquire({ label: 'pod 7' });
  const waits = instances[2]!.mutex('order:42').acquire({ label: 'pod 8' });
  const list = example('docs/production.md', 'A lock that is stuck');
  await until('it waits', async () => {
    logged.length = 0;
    await list({ locks, console });
    return logged.length === 2;
  });
  expect(logged.map(([key, how, label]) => [key, how, label])).toEqual([
    ['order:42', 'held by', 'pod 7'],
    ['order:42', 'waits:', 'pod 8'],
  ]);
  await example('docs/production.md', 'A lock that is stuck', 2)({ locks });
  const next = await settleWithin('the next one has it', waits);
  expect(next.token > held.token).toBe(true);
});

test('re-entrance: the inner run enters the same hold', async () => {
  const tokens: bigint[] = [];
  const note = (lease: { token: bigint }): void => void tokens.push(lease.token);
  await example('docs/guides/advanced.md', 'Re-entrance')(
    { locks, note },
    { 'order.run(async () => {\n': 'order.run(async (lease) => {\nnote(lease);\n', 'async () => {}': 'note' },
  );
  expect(tokens).toHaveLength(2);
  expect(tokens[0]).toBe(tokens[1]);
});

test('re-entrance: a batch that says so is not entered again', async () => {
  const { batch, handle } = await example('docs/guides/advanced.md', 'When to switch it off')({ locks });
  let inner: Promise<void> | undefined;
  let done = false;
  await batch.run(async () => {
    inner = handle('job').then(() => {
      done = true;
    });
    for (let i = 0; i < 20; i++) await turn();
    expect(done).toBe(false);
  });
  await settleWithin('the job has its turn', inner!);
});

test.each([
  ['docs/guides/schedules.md', found('docs/guides/schedules.md', 'A timer of your own')],
])('%s: its loop runs each tick once, whenever the instances began, after a failure and a sleep', async (_page, block) => {
  const clock = manualClock();
  const shared = memory({ clock });
  const stop = new AbortController();
  const [ran, warned]: [string[], unknown[]] = [[], []];
  const report = ({ tick }: { readonly tick: Date }): void => {
    ran.push(tick.toISOString().slice(11, 16));
    if (ran.length === 1) throw new Error('no report today');
  };
  const loops: Promise<unknown>[] = [];
  const start = async (): Promise<void> => {
    const timer = timerOf(clock);
    const log = { warn: (word: unknown) => void warned.push(word) };
    const { signal } = stop;
    const given = { locks: createLocks(shared, { clock }), report, log, signal, sleep: timer.sleep, Date: timer.Date };
    const module = await import(
      await moduleOf(block, Object.keys(given), { "import { setTimeout as sleep } from 'node:timers/promises';\n": '' })
    );
    loops.push(module.default(given));
  };
  for (const wait of [3, 1.5, 0.4]) {
    await clock.advance(wait * 60_000);
    await start();
  }
  await clock.advance(11 * 60_000);
  expect([ran, warned]).toEqual([
    ['00:05', '00:10', '00:15'],
    [expect.objectContaining({ message: 'no report today' })],
  ]);
  clock.suspend(120_000); // 00:20 comes while the machine sleeps
  await clock.advance(10 * 60_000);
  expect(ran.slice(3)).toEqual(['00:25']);
  expect(warned.slice(1)).toEqual(Array(3).fill('the tick of 2026-01-01T00:20:00.000Z was late here'));
  stop.abort();
  await settleWithin('the loops end', Promise.all(loops));
});

test('testing: two of one engine stand for two processes', async () => {
  const check = async (here: Locks, there: Locks): Promise<void> => {
    await using _ = await here.mutex('key').acquire();
    logged.push([await there.mutex('key').tryAcquire()]);
  };
  const comment = '// as another process would have it';
  await example('docs/guides/testing.md', 'Without a server')({ check }, { [comment]: '\nawait check(here, there);' });
  expect(logged).toEqual([[null]]);
});

test('testing: a lease runs out when the clock is moved', async () => {
  const made = await example('docs/guides/testing.md', 'Without waiting')({ console });
  expect(logged).toEqual([[false]]);
  await made.locks.close();
});

test('testing: who lost the lease must not write', async () => {
  const writeOrder = (lease: { assertHeld(): void }): void => lease.assertHeld();
  const job = example('docs/guides/testing.md', 'Losing it on purpose')({ locks, writeOrder });
  await expect(job).rejects.toMatchObject({ code: 'LOCK_LOST' });
});

test('testing: a job that is evicted stops', async () => {
  const clock = manualClock();
  await using own = createLocks(memory({ clock }), { clock });
  const grabOrder = (id: number): Promise<unknown> =>
    own.mutex(`order:${id}`).run((lease) => new Promise((resolve) => lease.signal.addEventListener('abort', resolve)));
  await settleWithin(
    'it stops',
    example('docs/guides/testing.md', 'Losing it on purpose', 2)({ clock, locks: own, grabOrder }),
  );
});

test('testing: an engine does what the test says, and another process holds a key', async () => {
  const seen = async (locks: Locks): Promise<void> => {
    const taken = locks.mutex('key').tryAcquire();
    logged.push([await taken.then((lease) => lease?.release()).catch((error) => error.code)]);
  };
  const down = '// each call fails at once: LOCK_UNAVAILABLE';
  const up = '// all is well again';
  const other = '// another process has it, until the block ends';
  const held = "\nlogged.push([await locks.mutex('order:42').tryAcquire()]);";
  await example('docs/guides/testing.md', 'An engine that is away')(
    { seen, logged },
    { [down]: '\nawait seen(locks);', [up]: '\nawait seen(locks);', [other]: held },
  );
  expect(logged).toEqual([['LOCK_UNAVAILABLE'], [true], [null]]);
});

test('fencing: the guard lets the holder write', async () => {
  const { counter } = await example('docs/guides/ttl-renewal-fencing.md', 'Why that is not enough')();
  expect(counter).toBe(1);
});

test('fencing: after a hold that expired the key stays taken for the delay', async () => {
  const clock = manualClock();
  const { lease, locks: own } = await example(
    'docs/guides/ttl-renewal-fencing.md',
    'A resource that cannot check a token',
  )({ clock }, { 'memory()': 'memory({ clock }), { clock, renew: false }', 'await using lease': 'const lease' });
  const isFree = async (): Promise<boolean> => (await own.mutex('printer').tryAcquire()) !== null;
  await clock.advance(15_000);
  expect([lease.held, await isFree()]).toEqual([false, false]);
  await clock.advance(9_000);
  expect(await isFree()).toBe(false);
  await clock.advance(2_000);
  expect(await isFree()).toBe(true);
  await own.close();
});

test('waiting: who tries does not wait', async () => {
  const { lease, now } = await example(
    'docs/guides/advanced.md',
    'Waiting',
  )({ locks, signal: AbortSignal.timeout(5_000) });
  expect([lease.held, now]).toEqual([true, null]);
});

test('waiting: how to ask where nobody wakes may be said', async () => {
  await example('docs/guides/advanced.md', 'Engines that are polled')({ locks });
  expect(await instances[1]!.mutex('report').tryAcquire()).toBeNull();
});

test('a backend of one table keeps two out', async () => {
  using folder = temporaryFolder();
  const { rows } = await example('docs/guides/your-own-engine.md', 'A backend of your own')();
  const two = [1, 2].map(() => createLocks(rows(new DatabaseSync(`${folder.path}/locks.db`, { timeout: 2_000 }))));
  const section = criticalSection();
  await Promise.all(two.map((each) => each.mutex('key').run(section.enter)));
  section.expectOrderly(2);
  for (const each of two) await each.close();
});

test('a backend of one table gives locks', async () => {
  using folder = temporaryFolder();
  const rows = new URL('../../../examples/own-backend/rows.ts', import.meta.url).href;
  const made = await example(
    'docs/guides/your-own-engine.md',
    'A backend of your own',
    2,
  )({}, { './rows.ts': rows, 'locks.db': `${folder.path}/locks.db` });
  await using lease = await made.locks.mutex('key').acquire();
  expect(await made.locks.mutex('key').tryAcquire()).toBeNull();
  expect(lease.token).toBe(1n);
});

test('a backend of your own: the rule and the times are exported', async () => {
  const { queue } = await example('docs/guides/your-own-engine.md', 'A claim, and its answers')({ console });
  expect(logged).toEqual([[2], [[false, false, true]], [true]]);
  expect(queue({ clock: { now: () => 7 } }).now()).toBe(7);
});

test('one instance is connected at a time', async () => {
  let connected = 0;
  const opened: EventEmitter[] = [];
  const connect = async (): Promise<EventEmitter> => {
    expect(++connected).toBe(1);
    const bot = new EventEmitter();
    opened.push(bot);
    return Object.assign(bot, { close: () => setImmediate(() => bot.emit('close', connected--)) });
  };
  const stops = instances.map(() => new AbortController());
  const block = found('docs/recipes.md', 'One outgoing connection');
  const running = together(
    block,
    instances.map((each, n) => ({ locks: each, store: { connect }, signal: stops[n]!.signal, log: { warn() {} } })),
  );
  for (const n of [0, 1, 2]) {
    await until('one more is connected', () => opened.length === n + 1);
    stops[n]!.abort();
  }
  expect((await running).map(({ status }) => status)).toEqual(Array(3).fill('fulfilled'));
  expect(connected).toBe(0);
});

test('a connection that cannot be opened, or that tells an error, is opened again', async () => {
  let tries = 0;
  const opened: (EventEmitter & { close(): void })[] = [];
  const connect = async (): Promise<EventEmitter> => {
    if (++tries === 1) throw new Error('refused');
    const bot = new EventEmitter();
    opened.push(Object.assign(bot, { close: () => void bot.emit('close') }));
    return bot;
  };
  const stop = new AbortController();
  const warned: unknown[] = [];
  const log = { warn: (error: Error) => void warned.push(error.message) };
  const block = found('docs/recipes.md', 'One outgoing connection');
  const running = together(block, [{ locks, store: { connect }, signal: stop.signal, log }]);
  await breaksAndIsOpenedAgain(opened);
  stop.abort();
  expect((await running).map(({ status }) => status)).toEqual(['fulfilled']);
  expect(warned).toContain('reset');
});

test('a site that fails does not keep its worker from the next one', async () => {
  const visited: string[] = [];
  const sites = ['a', 'b', 'c'].map((host) => ({
    host,
    next: async () => {
      visited.push(host);
      if (host === 'a') throw new Error('a is away');
      return false;
    },
  }));
  const log = { warn() {} };
  await together(found('docs/recipes.md', 'One crawler per site'), [{ locks, sites, log }]);
  expect(visited).toEqual(['a', 'b', 'c']);
  expect(await instances[1]!.mutex('site:a').tryAcquire(), 'its site is free for the next try').not.toBeNull();
});

test('each site is crawled by one at a time, and who finds it taken goes on to the next', async () => {
  const visits: string[] = [];
  const sites = ['a', 'b'].map((host) => ({ host, section: criticalSection() }));
  const each = sites.map(({ host, section }) => ({
    host,
    next: async () => {
      visits.push(host);
      await section.enter();
      return false;
    },
  }));
  await together(
    found('docs/recipes.md', 'One crawler per site'),
    instances.map((own) => ({ locks: own, sites: each, log: { warn() {} } })),
  );
  for (const { section } of sites) section.expectOrderly(0);
  expect(new Set(visits)).toEqual(new Set(['a', 'b']));
});

/** Twenty callers in each of three processes, all at once. */
async function statistics(failing: boolean) {
  let builds = 0;
  const build = async (): Promise<number> => {
    builds++;
    await turn();
    if (failing) throw new Error('the database is full');
    return builds;
  };
  const processes = await together(
    found('docs/guides/memo.md', 'A cache stampede'),
    instances.map((each) => ({ build, locks: each })),
  );
  const callers = processes.flatMap((made) =>
    Array.from({ length: 20 }, () => (made as PromiseFulfilledResult<{ statistic(): unknown }>).value.statistic()),
  );
  const results = (await Promise.allSettled(callers)) as { value?: number; reason?: Error & { cause?: Error } }[];
  return { results: results.map(({ value, reason }) => (reason?.cause ?? reason)?.message ?? value), builds };
}

test('of 60 callers who have no statistic one builds, and the others take what it built', async () => {
  const { results, builds } = await statistics(false);
  expect([new Set(results), results.length, builds]).toEqual([new Set([1]), 60, 1]);
});

test('of 60 callers whose build fails each gets its error, after one build', async () => {
  const { results, builds } = await statistics(true);
  expect([new Set(results), builds]).toEqual([new Set(['the database is full']), 1]);
});

test('a memo of the page on memos is run once, and gives its value', async () => {
  const locks = createLocks(memory());
  let builds = 0;
  const build = () => ++builds;
  for (let n = 0; n < 2; n++) {
    const { value } = await example('docs/guides/memo.md', 'A memo')({ locks, build });
    expect(value).toBe(1);
  }
  await locks.close();
});

test('re-entrance: a callback that a pool runs in the context of another request is not inside the hold of that', async () => {
  let callback: (() => void) | undefined;
  const pool = {
    query: (_: string, called: () => void) => {
      callback = called;
    },
  };
  let ran = false;
  const work = (): void => {
    ran = true;
  };
  await example('docs/guides/advanced.md', 'When to switch it off', 2)({ locks, pool, work });
  await locks.mutex('order:42').run(async () => {
    callback!(); // as when this request gives its connection back
    for (let i = 0; i < 20; i++) await turn();
    expect(ran).toBe(false);
  });
  await until('it has its turn', () => ran);
});
