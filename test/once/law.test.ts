import fc from 'fast-check';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { type ManualClock, manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks, type TickRun } from '../../src/index.ts';

/** ms */
const [TTL, WITHIN, SKEW] = [3_000, 20_000, 2_000];

/** One instance: by how much its clock is ahead, when it asks (by the right clock), and what becomes of it. All in ms. */
const instance = fc.record({
  ahead: fc.integer({ min: 0, max: SKEW }),
  asks: fc.integer({ min: -SKEW, max: WITHIN + SKEW }),
  /** How long a request and its answer are under way. */
  way: fc.integer({ min: 0, max: 400 }),
  works: fc.integer({ min: 0, max: WITHIN }),
  fails: fc.boolean(),
  /** It crashes so long after it asked, or it does not. */
  crashes: fc.option(fc.integer({ min: 0, max: WITHIN }), { freq: 1 }),
  /** Which of its calls fail: before the engine has heard of them, or after. */
  fail: fc.array(fc.record({ call: fc.nat(6), heard: fc.boolean() }), { maxLength: 3 }),
});
type Plan = typeof instance extends fc.Arbitrary<infer T> ? T : never;

/** The answer to the last question may come so much later. ms */
const ANSWER = 5_000;

/** By its own clock it asks for a tick that is young; if calls fail or a runner may have died, also for long enough to ask again. */
const inTime = ({ asks, ahead, fail }: Plan, retry: boolean): boolean => {
  const age = asks + ahead - SKEW / 2;
  return age >= -SKEW && age <= (retry || fail.length > 0 ? WITHIN / 4 : WITHIN);
};

interface Begun {
  readonly by: number;
  readonly at: number;
  readonly token: bigint;
  /** When it stopped, by itself, since it was told to, or with its process. */
  ended?: number;
  /** When its success had been written down. */
  recorded?: number;
}

/** A process that reaches the engine by a network, until it crashes. */
function processOf(engine: Backend, clock: ManualClock, { way, fail }: Plan, state: { crashed: boolean }): Backend {
  let calls = 0;
  const slow = async <T>(call: () => Promise<T>): Promise<T> => {
    const fails = fail.find((each) => each.call === calls);
    calls++;
    const hop = (): Promise<void> => new Promise((resolve) => clock.after(way / 2, resolve));
    await hop();
    if (fails && !fails.heard) throw new Error('the connection is gone');
    const answer = state.crashed ? new Promise<never>(() => {}) : call();
    await hop();
    if (fails) throw new Error('the answer is lost');
    return state.crashed ? new Promise(() => {}) : answer;
  };
  const { read, write } = engine.hints!;
  return around(engine, {
    hints: {
      read: (name) => slow(() => read(name)),
      write: (...of) => slow(() => write(...of)),
    },
    attempt: (claim) => slow(() => engine.attempt(claim)),
    renew: (claims) => slow(() => engine.renew(claims)),
    release: (...of) => slow(() => engine.release(...of)),
    close: async () => {},
  });
}

/** What the instances begin of one tick. */
async function history(
  plans: readonly Plan[],
  seed: number,
  retry: boolean,
  kept: 'holds' | 'notes',
): Promise<Begun[]> {
  const clock = manualClock(seed);
  const plain = memory({ clock });
  const session = { ...plain.traits, expires: false, lifetime: 'session' } as const;
  const engine = kept === 'holds' ? plain : around(plain, { traits: session });
  const begun: Begun[] = [];
  const due = clock.epoch() + SKEW;
  for (const [by, plan] of plans.entries()) {
    const state = { crashed: false };
    const ahead = plan.ahead - SKEW / 2;
    const locks = createLocks(processOf(engine, clock, plan, state), {
      clock: { ...clock, epoch: () => clock.epoch() + ahead },
      ttl: TTL,
    });
    const work = async (run: TickRun): Promise<void> => {
      if (state.crashed) return new Promise(() => {});
      const own: Begun = { by, at: clock.now(), token: run.token };
      begun.push(own);
      const end = (): void => {
        own.ended ??= clock.now();
      };
      run.signal.addEventListener('abort', end);
      await new Promise<void>((resolve) => clock.after(plan.works, resolve));
      end();
      if (plan.fails) throw new Error('no paper');
    };
    clock.after(plan.asks + SKEW, () => {
      const asked = locks.once('law', due, work, { within: WITHIN, skew: SKEW, retry });
      asked.then(
        (result) => {
          const own = begun.find((each) => each.by === by);
          if (result.ran && result.recorded && own) own.recorded = clock.now();
        },
        () => {},
      );
    });
    if (plan.crashes !== null)
      clock.after(plan.asks + SKEW + plan.crashes, () => {
        state.crashed = true;
        const own = begun.find((each) => each.by === by);
        if (own) own.ended ??= clock.now();
      });
  }
  for (let step = 0; step < 20; step++) await clock.advance((2 * WITHIN + 6 * SKEW) / 20);
  return begun;
}

const cases = [
  ['holds', false],
  ['holds', true],
  ['notes', false],
  ['notes', true],
] as const;

test.each(cases)(
  'kept by %s, retry %s: whatever the clocks, the network and the crashes, a tick is run as it is promised',
  async (kept, retry) => {
    const crowds = fc.tuple(fc.array(instance, { minLength: 2, maxLength: 5 }), fc.integer({ min: 1, max: 1e6 }));
    let most = 0;
    await fc.assert(
      fc.asyncProperty(crowds, async ([plans, seed]) => {
        const begun = await history(plans, seed, retry, kept);
        most = Math.max(most, begun.length);
        const alive = plans.filter(({ crashes }) => crashes === null);
        if (alive.some((plan) => inTime(plan, retry)) && (retry || alive.length === plans.length))
          expect(begun.length, 'runs of a tick that somebody asked for in time').toBeGreaterThanOrEqual(1);
        if (!retry) expect(begun.length, 'runs of a tick').toBeLessThanOrEqual(1);
        for (const [n, next] of begun.entries()) {
          for (const before of begun.slice(0, n)) {
            expect(before.ended, 'one at a time').toBeLessThanOrEqual(next.at);
            expect(before.recorded ?? Number.POSITIVE_INFINITY, 'nobody after a success').toBeGreaterThan(next.at);
            expect(next.token, 'tokens grow').toBeGreaterThan(before.token);
          }
          const { ahead } = plans[next.by]!;
          const age = next.at - SKEW + ahead - SKEW / 2;
          expect(age, 'by its own clock it was young when it asked').toBeLessThanOrEqual(WITHIN + ANSWER);
          expect(age, 'by its own clock it was not early').toBeGreaterThanOrEqual(-SKEW);
        }
      }),
      { numRuns: 150 },
    );
    expect(most, 'most runs of a tick that were seen').toBeGreaterThanOrEqual(retry ? 2 : 1);
  },
  60_000,
);
