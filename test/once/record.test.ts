import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { scene, TTL, work } from './scene.ts';

const NAME = 'import';
const retry = { retry: true } as const;
const WITHIN = 60_000;
const SKEW = 1_000;

type Kept = ReturnType<typeof scene>['kept'];

/** What the engine keeps when a process ends: holds that last, or only notes. */
const KEEPS: Readonly<Record<string, (kept: Kept) => Backend>> = {
  holds: (kept) => kept,
  notes: (kept) => around(kept, { traits: { ...kept.traits, expires: false, lifetime: 'session' } }),
};

const isRecord = (key: string): boolean => key.endsWith('#done');

/** Rejects the first so many calls of the record, before or after they have had their effect. */
function failing(engine: Backend, times: number, heard: 'before' | 'after'): Backend {
  let left = times;
  const once = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    const fails = isRecord(name) && left-- > 0;
    if (fails && heard === 'before') throw new Error('no answer');
    const answer = await call();
    if (fails) throw new Error('the answer is lost');
    return answer;
  };
  const { hints } = engine;
  return around(engine, {
    attempt: (claim) => once(claim.key, () => engine.attempt(claim)),
    hints: {
      read: (name) => once(name, () => hints!.read(name)),
      write: (name, text, ttl) => once(name, () => hints!.write(name, text, ttl)),
    },
  });
}

describe.each(Object.entries(KEEPS))('where a tick is remembered by %s', (_, keep) => {
  test.each([
    'before',
    'after',
  ] as const)('a record that cannot be asked for once is asked for again, while the tick is young; the engine fails %s', async (heard) => {
    const { clock, kept, instance, tick } = scene();
    const result = instance('a', { backend: failing(keep(kept), 1, heard) }).once(NAME, tick, () => 1, retry);
    await clock.advance(2 * TTL);
    expect(await result).toMatchObject({ ran: true, recorded: true });
    expect(await instance('b', { backend: keep(kept) }).once(NAME, tick, () => 1, retry)).toMatchObject({
      reason: 'done',
    });
  });

  test('without retry, too; nobody else runs it meanwhile', async () => {
    const { clock, kept, instance, tick } = scene();
    const { runs, ends, fn } = work();
    const backend = failing(keep(kept), 3, 'after');
    const results = ['a', 'b'].map((label) => instance(label, { backend }).once(NAME, tick, fn));
    await clock.advance(2 * TTL);
    expect(runs).toHaveLength(1);
    ends[0]!.resolve('');
    expect((await Promise.all(results)).map(({ ran }) => ran)).toEqual([true, false]);
  });

  test('a record that stays away is told when the tick is late', async () => {
    const { clock, kept, instance, tick } = scene();
    const { runs, fn } = work();
    const asked = instance('a', { backend: failing(keep(kept), Number.POSITIVE_INFINITY, 'before') }).once(
      NAME,
      tick,
      fn,
      retry,
    );
    const told = expect(asked).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await clock.advance(WITHIN + 2 * TTL);
    await told;
    expect(runs).toHaveLength(0);
  });

  test('a signal ends the questions about the record', async () => {
    const { clock, kept, instance, tick } = scene();
    const leave = new AbortController();
    const backend = failing(keep(kept), Number.POSITIVE_INFINITY, 'before');
    const asked = instance('a', { backend }).once(NAME, tick, () => 1, { ...retry, signal: leave.signal });
    const told = expect(asked).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    await clock.advance(1_000);
    leave.abort();
    await clock.advance(100);
    await told;
  });

  test('a success that an evicted runner recorded is a record for its successor, which ends at once', async () => {
    const { clock, kept, instance, tick } = scene();
    const { runs, ends, fn } = work();
    let cut = false;
    const engine = keep(kept);
    const backend = around(engine, {
      renew: (claims) => (cut ? new Promise(() => {}) : engine.renew(claims)),
    });
    const options = { ...retry, overlap: 'skip' } as const;
    const evicted = instance('a', { backend }).once(NAME, tick, fn, options);
    await clock.advance(1_000);
    const next = instance('b', { backend: engine }).once(NAME, tick, fn, options);
    cut = true;
    await clock.advance(2 * TTL);
    expect(runs, 'the second one runs beside it').toHaveLength(2);
    ends[0]!.resolve('');
    await clock.advance(100);
    expect(await evicted).toMatchObject({ ran: true, recorded: true });
    ends[1]!.resolve('');
    let result: unknown;
    void next.then((value) => (result = value));
    await clock.advance(500);
    expect(result, 'within 500 ms of its end').toMatchObject({ ran: true, recorded: true });
    const third = instance('c', { backend: engine });
    expect(await third.once(NAME, tick, fn, options)).toMatchObject({ reason: 'done' });
    const later = third.once(NAME, tick + WITHIN / 2, () => 1, { ...options, skew: WITHIN });
    expect(await later, 'the next tick does not overlap').toMatchObject({ ran: true });
  });
});

test('a runner that dies while it looks for the record leaves none: the next one runs the tick, and records it', async () => {
  const { clock, kept: woken, instance, tick } = scene();
  const kept = around(woken, { traits: { ...woken.traits, wakes: 'never' }, watch: undefined });
  let dead = false;
  const never = new Promise<never>(() => {});
  const dying = around(kept, {
    async attempt(claim) {
      // Its two leases end one after the other, as over any network.
      if (isRecord(claim.key)) await new Promise<void>((resolve) => clock.after(50, resolve));
      return dead ? never : kept.attempt(claim);
    },
    renew: (claims) => (dead ? never : kept.renew(claims)),
    release(handle, next) {
      dead ||= isRecord(handle.key);
      return dead ? never : kept.release(handle, next);
    },
  });
  const { runs, ends, fn } = work();
  instance('a', { backend: dying })
    .once(NAME, tick, fn, retry)
    .catch(() => {});
  await clock.advance(100);
  expect(dead).toBe(true);
  const next = instance('b', { backend: kept }).once(NAME, tick, fn, retry);
  await clock.advance(2 * TTL);
  expect(runs).toHaveLength(1);
  ends[0]!.resolve('');
  await clock.advance(2 * TTL);
  expect(await next).toMatchObject({ ran: true, recorded: true });
  expect(await instance('c').once(NAME, tick, fn, retry)).toMatchObject({ reason: 'done' });
});

test('a record of the last moment is seen by the slowest clock, for which the tick is still young', async () => {
  for (const left of [2, 1, 0]) {
    const { clock, instance, tick } = scene();
    const { ends, fn } = work();
    const first = instance('a').once(NAME, tick, fn, retry);
    await clock.advance(WITHIN + SKEW - left);
    ends[0]!.resolve('');
    await first;
    const runs: unknown[] = [];
    const slow = instance('b', { ahead: -SKEW }).once(NAME, tick, () => runs.push(1), retry);
    await clock.advance(100);
    expect(await slow, `${left} ms before the end`).toMatchObject({ ran: false });
    expect(runs).toEqual([]);
  }
});
