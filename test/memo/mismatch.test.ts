/** A request is refused as another one only while the other one holds the key, or has left what is there. */
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Memo } from '../../src/index.ts';

function processes() {
  const clock = manualClock();
  const engine = memory({ clock });
  const memos = [1, 2].map(() => {
    const locks = createLocks(engine, { clock, ttl: 3_000 });
    return (match: unknown, how = {}): Memo<string> =>
      locks.memo('key', { keep: '1h', ...(match !== undefined && { match }), ...how });
  }) as [(match: unknown, how?: object) => Memo<string>, (match: unknown, how?: object) => Memo<string>];
  return { clock, engine, memos };
}

const ended = (call: Promise<unknown>): Promise<unknown> => call.catch((error) => error.code ?? error.message);

test('after another request failed, whoever waits for the next one has its result', async () => {
  const { clock, memos } = processes();
  await ended(memos[0]('wrong').run(() => Promise.reject(new Error('no'))));
  const { promise, resolve } = Promise.withResolvers<string>();
  const runs = memos[0]('right').run(() => promise);
  await clock.advance(10);
  const waits = [memos[0], memos[1]].map((memo) => memo('right').run(() => 'again'));
  await clock.advance(3_000);
  resolve('made');
  await clock.advance(10);
  expect(await runs).toMatchObject({ value: 'made', ran: true });
  for (const call of waits) expect(await call).toMatchObject({ value: 'made', ran: false });
});

test.each([
  'first',
  'last',
] as const)('a request that is refused as another one, and came %s, takes no other caller of its process with it', async (when) => {
  const { clock, memos } = processes();
  const { promise, resolve } = Promise.withResolvers<string>();
  const runs = memos[1]('right').run(() => promise);
  await clock.advance(10);
  const matches = when === 'first' ? ['wrong', 'right', 'right'] : ['right', 'right', 'wrong'];
  const calls = matches.map((match) => ({ match, end: ended(memos[0](match).run(() => 'again')) }));
  await clock.advance(100);
  resolve('made');
  await clock.advance(100);
  for (const { match, end } of calls)
    expect(await end, match).toEqual(match === 'wrong' ? 'LOCK_MISMATCH' : expect.objectContaining({ value: 'made' }));
  await runs;
});

test('a request is told that it is another one when the run begins, and not when that ends', async () => {
  const { clock, memos } = processes();
  const runs = memos[0]('right').run(() => new Promise<string>(() => {}));
  const other = ended(memos[0]('wrong').run(() => 'again'));
  await clock.advance(10);
  expect(await Promise.race([other, runs])).toBe('LOCK_MISMATCH');
});

test('a request is told that it is another one when its process hears of the run of another process, whoever asked first', async () => {
  const { clock, memos } = processes();
  const { promise, resolve } = Promise.withResolvers<string>();
  const runs = memos[1]('right').run(() => promise);
  await clock.advance(10);
  const waits = memos[0]('right').run(() => 'again');
  const beside = ended(memos[0]('wrong').run(() => 'again'));
  await clock.advance(10);
  const later = ended(memos[0]('wrong').run(() => 'again'));
  await clock.advance(10);
  expect(await Promise.race([Promise.all([beside, later]), runs])).toEqual(['LOCK_MISMATCH', 'LOCK_MISMATCH']);
  resolve('made');
  await clock.advance(10);
  expect(await waits).toMatchObject({ value: 'made', ran: false });
});

test('the mark of a run that has died keeps nobody out, and a look says nothing of it', async () => {
  const { clock, engine, memos } = processes();
  void ended(memos[0]('dead').run(() => new Promise<string>(() => {})));
  await clock.advance(10);
  for await (const { token } of engine.inspect!('key')) await engine.evict!('key', token);
  const plain = createLocks(engine, { clock });
  const lease = await plain.mutex('key').acquire();
  const waits = memos[1]('right').run(() => 'made');
  await clock.advance(10);
  expect(await memos[1]('right').peek()).toMatchObject({ state: 'running' });
  await lease.release();
  await clock.advance(10);
  expect(await waits).toMatchObject({ value: 'made', ran: true });
});

test('where the first caller of a request gives up, the next runs, and one of another request waits for its own turn', async () => {
  const { clock, memos } = processes();
  const { promise, resolve } = Promise.withResolvers<string>();
  const before = memos[1](undefined, { keep: 0 }).run(() => promise);
  await clock.advance(10);
  const stop = new AbortController();
  const first = ended(memos[0]('one').run(() => 'of the first', { signal: stop.signal }));
  const other = ended(memos[0]('two').run(() => 'of two'));
  await clock.advance(10);
  stop.abort();
  resolve('');
  await before;
  await clock.advance(3_000);
  expect(await first).toBe('LOCK_ABORTED');
  expect(await other).toMatchObject({ value: expect.any(String) });
});

test('a request whose turn comes by the claim of another one runs under its own name', async () => {
  const { clock, engine, memos } = processes();
  const lease = await createLocks(engine, { clock }).mutex('key').acquire();
  const { promise, resolve } = Promise.withResolvers<string>();
  const stop = new AbortController();
  const first = ended(memos[0]('one').run(() => 'of the first', { signal: stop.signal }));
  const two = memos[0]('two').run(() => promise);
  await clock.advance(10);
  stop.abort();
  await lease.release();
  await clock.advance(3_000);
  const elsewhere = memos[1]('two').run(() => 'again');
  await clock.advance(10);
  resolve('made');
  await clock.advance(10);
  expect(await first).toBe('LOCK_ABORTED');
  expect(await two).toMatchObject({ value: 'made', ran: true });
  expect(await elsewhere).toMatchObject({ value: 'made', ran: false });
});

test('a request that comes as another one has failed is not refused, though others wait that were like that', async () => {
  const { clock, memos } = processes();
  await memos[0]('loaded').peek();
  const memo = (match: string) => memos[0](match, { keep: 0 });
  const stop = new AbortController();
  const failing = memo('one').run(() => Promise.reject(new Error('no')));
  const beside = ended(memo('one').run(() => 'again', { signal: stop.signal }));
  const comes = failing.catch(() => {
    const call = memo('two').run(() => 'made');
    stop.abort();
    return call;
  });
  await clock.advance(10);
  expect(await beside).toBe('LOCK_ABORTED');
  expect(await comes).toMatchObject({ value: 'made', ran: true });
});
