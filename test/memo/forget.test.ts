/** What a caller may still get of a result that was forgotten. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';
import { loaded } from './loaded.ts';

const OPTIONS = { keep: '1h', refresh: '1m' } as const;

/** Two processes on one engine. It answers the looks and attempts of the first at once, but the answers may be on their way for a time. */
async function processes() {
  const clock = manualClock();
  const engine = memory({ clock });
  let way = Promise.resolve();
  const slow = async <T>(answer: T): Promise<T> => way.then(() => answer);
  const far = around(engine, {
    attempt: async (claim) => slow(await engine.attempt(claim)),
    values: { look: async (key) => slow(await engine.values!.look(key)), forget: (key) => engine.values!.forget(key) },
  });
  /** Answers from now on wait for a call of what this gives. */
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    way = promise;
    return resolve;
  };
  const [here, there] = await Promise.all([far, engine].map((each) => loaded(createLocks(each, { clock }))));
  return { clock, hold, here: here!, there: there! };
}

/** A result is due, and the first process makes a new one. */
async function refreshing({ clock, here }: Awaited<ReturnType<typeof processes>>) {
  const memo = here.memo<number>('key', OPTIONS);
  await memo.run(() => 1);
  await clock.advance(61_000);
  const { promise, resolve } = Promise.withResolvers<number>();
  const refresh = memo.run(() => promise);
  await clock.advance(0);
  expect((await memo.run(() => 3)).value, 'all others have the old one').toBe(1);
  return { memo, refresh, resolve };
}

test('a call after forget() does not share a look that was sent before it', async () => {
  const { clock, hold, here } = await processes();
  const memo = here.memo<number>('key', OPTIONS);
  await memo.run(() => 1);
  const answer = hold();
  const early = memo.run(() => 2);
  await clock.advance(0);
  expect(await memo.forget()).toBe(true);
  const late = memo.run(() => 3);
  answer();
  await clock.advance(0);
  expect(await early, 'it asked before').toMatchObject({ value: 1, ran: false });
  expect(await late).toMatchObject({ value: 3, ran: true });
});

test('a call after forget() does not share a claim that was answered before it', async () => {
  const { clock, hold, here, there } = await processes();
  const memo = here.memo<number>('key', OPTIONS);
  const looked = hold();
  const early = memo.run(() => 2);
  await clock.advance(0);
  await there.memo<number>('key', OPTIONS).run(() => 1);
  const answer = hold();
  looked();
  await clock.advance(0);
  expect(await memo.forget()).toBe(true);
  const late = memo.run(() => 3);
  await clock.advance(0);
  answer();
  await clock.advance(0);
  expect(await early, 'it asked before').toMatchObject({ value: 1, ran: false });
  expect(await late).toMatchObject({ value: 3, ran: true });
});

test('a call after forget() does not get the old result from a refresh that fails, whose caller looked before', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  let [way, isGone] = [Promise.resolve(), false];
  const backend = around(engine, {
    async attempt(claim) {
      if (!isGone) return engine.attempt(claim);
      await new Promise<void>((resolve) => clock.after(1_000, resolve));
      throw new Error('no answer');
    },
    values: {
      async look(key) {
        const [found, before] = [await engine.values!.look(key), way];
        await before;
        return found;
      },
      forget: (key) => engine.values!.forget(key),
    },
  });
  const memo = (await loaded(createLocks(backend, { clock }))).memo<string>('key', OPTIONS);
  await memo.run(() => 'old');
  await clock.advance(61_000); // a new result is due
  const answer = Promise.withResolvers<void>();
  way = answer.promise;
  const early = memo.run(() => expect.fail('it ran'));
  await clock.advance(0);
  way = Promise.resolve();
  expect(await memo.forget()).toBe(true);
  isGone = true;
  answer.resolve();
  await clock.advance(0);
  const late = memo.run(() => 'new');
  const told = expect(late, 'it asked after').rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(30_000);
  expect(await early, 'it asked before').toMatchObject({ value: 'old', ran: false });
  await told;
});

test.each([
  'here',
  'there',
] as const)('what is forgotten %s is given to nobody while a new result is made', async (where) => {
  const all = await processes();
  const { clock } = all;
  const { memo, refresh, resolve } = await refreshing(all);
  expect(await all[where].memo('key', OPTIONS).forget()).toBe(true);
  const late = memo.run(() => 3);
  await clock.advance(0);
  resolve(2);
  await clock.advance(0);
  expect(await late).toMatchObject({ value: 2, ran: false });
  expect(await refresh).toMatchObject({ value: 2, ran: true });
});

test('a caller that has a new result does not get the old one from a look that was sent before', async () => {
  const all = await processes();
  const { clock, hold } = all;
  const { memo, refresh, resolve } = await refreshing(all);
  const answer = hold();
  const early = memo.run(() => 3);
  await clock.advance(0);
  resolve(2);
  await clock.advance(0);
  expect(await refresh).toMatchObject({ value: 2, ran: true });
  const late = memo.run(() => 3);
  answer();
  await clock.advance(0);
  expect(await early, 'it asked before').toMatchObject({ ran: false });
  expect(await late).toMatchObject({ value: 2, ran: false });
});

test('once memos are loaded, the engine is asked to forget in the turn of the call, so that a close after it does not refuse it', async () => {
  const { here, there } = await processes();
  await here.memo('key', OPTIONS).run(() => 1);
  const forgotten = here.memo('key').forget();
  await here.close();
  expect(await forgotten).toBe(true);
  expect(await there.memo('key').peek()).toMatchObject({ state: 'absent' });
});

test('a process that has used no memo yet can forget what another one has kept', async () => {
  const engine = memory();
  await createLocks(engine)
    .memo('key', { keep: '1h' })
    .run(() => 1);
  const memo = createLocks(engine).memo('key');
  expect(await memo.forget()).toBe(true);
  expect(await memo.forget(), 'it is gone').toBe(false);
});

test('an unanswered attempt that arrives after another process forgot the result does not keep the key', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const sent: (() => Promise<unknown>)[] = [];
  const broken = around(engine, {
    attempt(claim) {
      const arrive = () => engine.attempt(claim);
      return sent.push(arrive) > 1 ? arrive() : Promise.reject(new Error('the connection broke'));
    },
  });
  const [here, there] = await Promise.all([broken, engine].map((each) => loaded(createLocks(each, { clock }))));
  const work = Promise.withResolvers<string>();
  const runs = there!.memo('key', { keep: '1h' }).run(() => work.promise);
  await clock.advance(10);
  const waits = here!.memo('key', { keep: '1h' }).run(() => 'again');
  await clock.advance(1);
  work.resolve('theirs');
  await runs;
  await clock.advance(1_000);
  expect(await waits).toMatchObject({ value: 'theirs', ran: false });
  await there!.memo('key').forget();
  await sent[0]!();
  expect(await there!.isHeld('key'), 'as the engine has it').toBe(true);
  await clock.advance(6_000);
  expect(await there!.isHeld('key'), 'when no more of it can arrive').toBe(false);
});
