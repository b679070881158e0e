/** What becomes of words that a holder leaves in the step that frees its key, and of the hold. */
import { describe, expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import type { Attempt, Claim } from '../../src/core/contract/backend.ts';
import { LockError } from '../../src/index.ts';
import { heard } from './heard.ts';
import { type Answer, cut, leave, leaving } from './leaving.ts';

const refuses =
  (code: 'LOCK_UNAVAILABLE' | 'LOCK_TOO_LARGE'): Answer =>
  () =>
    Promise.reject(new LockError(code, 'no room'));

describe('words that are left', () => {
  test('are there, the key is free, both are told, and the engine hears nothing more', async () => {
    using events = heard('released', 'left');
    const { clock, take, withWords, without, found, claims } = leaving();
    const lease = await take();
    expect(await lease.releaseWith(leave, 'kept')).toBe('stored');
    expect(await found()).toMatchObject({ text: 'words', token: lease.token });
    expect(await claims()).toBe(0);
    expect(events.names).toEqual(['released', 'left']);
    expect(events.events[1]).toMatchObject({ key: 'key', token: lease.token, state: 'kept' });
    await clock.advance(10_000);
    expect([withWords, without]).toEqual([[0], []]);
  });

  test('let in the next caller of the process', async () => {
    const { clock, take } = leaving();
    const lease = await take();
    const waiting = take();
    await lease.releaseWith(leave, 'kept');
    await clock.advance(1);
    expect((await waiting).held).toBe(true);
  });

  test('end the renewals of their hold when they are sent, not when that is answered', async () => {
    const renewed: number[] = [];
    const { clock, engine, take } = leaving({
      answers: [() => new Promise(() => {})],
      backend: {
        renew(claims) {
          renewed.push(clock.now());
          return engine.renew(claims);
        },
      },
    });
    const lease = await take(undefined, { ttl: 3_000 });
    void lease.releaseWith(leave, 'kept');
    await clock.advance(2_000);
    expect(renewed).toEqual([]);
  });

  test('are waited for by whoever closes', async () => {
    const order: string[] = [];
    const { clock, closed, take } = leaving({
      answers: [
        async (ask) => {
          await new Promise<void>((answered) => clock.after(100, answered));
          order.push('left');
          return ask();
        },
      ],
      backend: { close: async () => void order.push('closed') },
    });
    const lease = await take();
    const left = lease.releaseWith(leave, 'kept');
    await closed();
    expect(await left).toBe('stored');
    expect(order).toEqual(['left', 'closed']);
  });

  test('are left with a clock that cannot look again, too', async () => {
    const { lookAgain: _, ...clock } = manualClock();
    const { take } = leaving({ clock });
    expect(await (await take()).releaseWith(leave, 'kept')).toBe('stored');
  });
});

describe('a hold that is over leaves no words', () => {
  test('where the machine slept through its deadline: it is lost, and the engine is not asked', async () => {
    using events = heard('lost', 'released');
    const { clock, take, withWords } = leaving();
    const lease = await take();
    const waiting = take();
    clock.suspend(70_000); // no timer has run yet
    expect(await lease.releaseWith(leave, 'kept')).toBe('gone');
    expect([lease.hold.loss?.code, events.names, withWords]).toEqual(['LOCK_LOST', ['lost'], []]);
    expect((await waiting).held, 'the next caller').toBe(true);
  });

  test('where it was told of that before: the engine is not asked', async () => {
    const { clock, take, withWords } = leaving();
    const lease = await take(undefined, { renew: false });
    await clock.advance(60_000);
    expect(await lease.releaseWith(leave, 'kept')).toBe('gone');
    expect(withWords).toEqual([]);
  });

  test('where only the engine knows: it is sent once, the words are looked at, and nobody is told of any', async () => {
    using events = heard('left');
    let looks = 0;
    const { engine, take, withWords, without } = leaving({
      backend: {
        values: {
          forget: (key) => engine.values!.forget(key),
          look(key) {
            looks++;
            return engine.values!.look(key);
          },
        },
      },
    });
    const lease = await take();
    await engine.evict!('key', lease.token!);
    expect(await lease.releaseWith(leave, 'kept')).toBe('gone');
    expect([withWords.length, without.length, looks, events.names]).toEqual([1, 0, 1, []]);
  });
});

describe('a refusal of words', () => {
  test.each([
    'LOCK_UNAVAILABLE',
    'LOCK_TOO_LARGE',
  ] as const)('with %s is told at once, and the key is freed without them', async (code) => {
    const { clock, take, withWords, claims, found } = leaving({ answers: [refuses(code)] });
    const lease = await take();
    expect(await lease.releaseWith(leave, 'kept')).toMatchObject({ refused: { code, message: 'no room' } });
    await clock.advance(1);
    expect([withWords, await claims(), await found()]).toEqual([[0], 0, undefined]);
  });

  test('for want of room passes after a release without an answer, and any other one does not', async () => {
    const { clock, take, withWords } = leaving({
      answers: [cut, refuses('LOCK_UNAVAILABLE'), refuses('LOCK_TOO_LARGE')],
    });
    const lease = await take();
    const became = lease.releaseWith(leave, 'kept');
    await clock.advance(150);
    expect(withWords).toEqual([0, 50, 150]);
    expect(await became).toMatchObject({ refused: { code: 'LOCK_TOO_LARGE' } });
  });
});

test('what an attempt without an answer brings after words were left is taken back when no more of it can arrive', async () => {
  const arriving: (() => Promise<Attempt>)[] = [];
  const own = leaving({
    backend: {
      attempt(claim: Claim) {
        const arrive = () => own.engine.attempt(claim);
        return arriving.push(arrive) > 1 ? arrive() : Promise.reject(new Error('cut'));
      },
    },
  });
  const waiting = own.take();
  await own.clock.advance(1_000);
  expect(await (await waiting).releaseWith(leave, 'kept')).toBe('stored');
  await arriving[0]!();
  expect(await own.claims(), 'as the engine has it').toBe(1);
  await own.clock.advance(10_000);
  expect(await own.claims(), 'when no more of it can arrive').toBe(0);
});

test('a lease that leaves words counts as released from then on, not as lost', async () => {
  const { take } = leaving();
  const lease = await take();
  const left = lease.releaseWith(leave, 'kept');
  expect(lease.held, 'while they are sent').toBe(false);
  await left;
  expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_NOT_HELD' }));
  expect(await lease.release()).toBe(false);
});

test('words that a release left which the client had sent twice are found, though the first look at them fails', async () => {
  let looks = 0;
  const { clock, engine, take } = leaving({
    answers: [
      async (ask) => {
        await ask();
        return false; // the answer of the second one
      },
      (ask) => ask(),
    ],
    backend: {
      values: {
        forget: (key) => engine.values!.forget(key),
        look: (key) => (++looks === 1 ? Promise.reject(new Error('cut')) : engine.values!.look(key)),
      },
    },
  });
  const lease = await take();
  const left = lease.releaseWith(leave, 'kept');
  await clock.advance(50);
  expect(await Promise.race([left, 'not told yet'])).toBe('stored');
});

test('who leaves words waits ten seconds for an engine that does not answer, and is told that nobody knows', async () => {
  const { clock, take, withWords } = leaving({ answers: [cut] });
  const lease = await take();
  const left = lease.releaseWith(leave, 'kept');
  await clock.advance(9_000);
  const sent = withWords.length;
  expect(await Promise.race([left, 'not told yet'])).toBe('not told yet');
  await clock.advance(1_000);
  expect(await Promise.race([left, 'not told yet'])).toBe('unknown');
  await clock.advance(5_000);
  expect(withWords.length, 'and they are still sent').toBeGreaterThan(sent + 3);
});

test('who leaves words is told that nobody knows before the pause in which the ten seconds end', async () => {
  const own = leaving({
    answers: [
      async () => {
        await new Promise<void>((resolve) => own.clock.after(450, resolve));
        throw new Error('cut');
      },
      cut,
    ],
  });
  const lease = await own.take();
  const left = lease.releaseWith(leave, 'kept');
  await own.clock.advance(8_999);
  expect(await Promise.race([left, 'not told yet'])).toBe('not told yet');
  await own.clock.advance(1);
  expect(own.withWords.at(-1)).toBe(9_000);
  expect(await Promise.race([left, 'not told yet'])).toBe('unknown');
});
