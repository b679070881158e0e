import { describe, expect, test, vi } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { courses } from '../../products/testing/course.ts';
import { conformance, manualClock, type Subject } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { describeConformance } from '../kit/suite.ts';
import { poor, rich } from './flavours.ts';

describeConformance(poor());
describeConformance(rich());

const run = (subject: Subject, wanted: string): Promise<unknown> => {
  const found = conformance(subject).find(({ name }) => name === wanted);
  return found ? found.run() : Promise.reject(new Error(`there is no case "${wanted}"`));
};

describe('the suite', () => {
  test('has no two cases of one name', () => {
    const names = conformance(poor()).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test('says of a case that does not apply what excludes it, and attempts nothing', async () => {
    const outcomes: { needs: readonly string[]; excludedBy?: string }[] = [];
    for (const { needs, run } of conformance(poor())) outcomes.push({ needs, ...(await run()) });
    const excluded = outcomes.filter(({ excludedBy }) => excludedBy);
    expect(excluded.length).toBeGreaterThan(30);
    for (const { needs, excludedBy } of excluded) expect(needs).toContain(excludedBy);
  });

  test('excludes nothing of a subject that has everything', async () => {
    const subject = rich();
    for (const { name, run } of conformance(subject)) {
      const { excludedBy } = await run();
      // An engine has a clock or observes expires, never both. The stores without a clock run that law.
      if (excludedBy !== 'observed expiry') expect(excludedBy, name).toBeUndefined();
    }
  });

  test.each([
    { tolerance: 250, limit: 30_000 },
    { tolerance: 500, limit: 60_000 },
  ])('ends a case that an engine of tolerance $tolerance never answers after $limit ms', async (slow) => {
    const clock = manualClock();
    const mute = around(memory({ clock }), { attempt: () => new Promise(() => {}) });
    const subject = { name: 'mute', open: async () => mute, clock, timing: { tolerance: slow.tolerance } };
    const late = `has not ended after ${slow.limit} ms`;
    await expect(run(subject, 'a repeated attempt keeps its token')).rejects.toThrow(late);
  });

  test('ends a case whose engine never opens', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const subject = { name: 'mute', open: () => new Promise<never>(() => {}) };
      const ended = expect(run(subject, 'a repeated attempt keeps its token')).rejects.toThrow('mute did not open');
      await vi.advanceTimersByTimeAsync(60_000);
      await ended;
    } finally {
      vi.useRealTimers();
    }
  });

  test('attempts once more after a watch that the engine had to open, as the core does', async () => {
    const clock = manualClock();
    const sound = memory({ clock });
    const opening = around(sound, {
      traits: { ...sound.traits, wakes: 'buffered' },
      async watch(claim, wake) {
        await new Promise<void>((resolve) => clock.after(5, resolve)); // an admission before the end of this is missed
        return sound.watch!(claim, wake);
      },
    });
    const subject = { name: 'opening', open: async () => opening, clock };
    await run(subject, 'an admission between the attempt and the watch reaches the waiter');
  });

  test('names the seed and the steps of a random case that fails', async () => {
    const clock = manualClock();
    const sound = memory({ clock });
    const unfair = around(sound, { attempt: (claim) => sound.attempt({ ...claim, units: 1 }) });
    const subject = { name: 'unfair', open: async () => unfair, clock, seed: 42 };
    await expect(run(subject, 'random histories agree with the rule')).rejects.toThrow(/with seed 42, after\n.* comes/);
  });

  test('names the step of a course that fails', async () => {
    const clock = manualClock();
    const sound = memory({ clock });
    const unfair = around(sound, { attempt: (claim) => sound.attempt({ ...claim, units: 1 }) });
    const subject = { name: 'unfair', open: async () => unfair, clock };
    await expect(run(subject, 'an exclusive hold keeps out every client, its own too')).rejects.toThrow(
      /must be refused, but was granted[\s\S]*at "passing claim 1 waits", step 2 of: passing holder gets, passing claim 1/,
    );
  });

  test.each(['holder goes', 'gets', 'time flies'])('knows no step "%s"', (step) => {
    expect(() => courses([], { 'a law': `holder gets, ${step}` })).toThrow(`no step of a course: ${step}`);
  });

  test('closes what it opened, also when a case fails', async () => {
    let open = 0;
    const clock = manualClock();
    const sound = memory({ clock });
    const counted = async () => {
      open++;
      return around(sound, {
        attempt: () => Promise.reject(new Error('broken')),
        close: async () => void open--,
      });
    };
    await expect(run({ name: 'broken', open: counted, clock }, 'a repeated attempt keeps its token')).rejects.toThrow();
    expect(open).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

describe('the suite finds', () => {
  test('an engine that takes late attempts', async () => {
    const clock = manualClock();
    const sound = memory({ clock });
    let gate: Promise<void> | undefined;
    const client = around(sound, {
      async attempt(claim) {
        await gate;
        return sound.attempt(claim);
      },
    });
    const stall = async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return async () => resolve();
    };
    const opened = [client, sound];
    const subject = { name: 'late', open: async () => opened.shift()!, clock, faults: { stall } };
    await expect(
      run(subject, 'an attempt that reaches the engine late is refused, and leaves nothing'),
    ).rejects.toThrow(/was granted/);
  });

  test('two prefixes that share their keys', async () => {
    const clock = manualClock();
    const sound = memory({ clock });
    const open = async () => sound;
    await expect(run({ name: 'one', open, apart: open, clock }, 'no key reaches another prefix')).rejects.toThrow();
  });

  test('a session that outlives its client', async () => {
    const clock = manualClock();
    const sound = memory({ clock });
    const eternal = around(sound, { attempt: (claim) => sound.attempt({ ...claim, ttl: claim.ttl * 1_000 }) });
    const subject = { name: 'eternal', open: async () => eternal, clock, faults: { die: async () => {} } };
    await expect(run(subject, 'what a dead client held or waited for is free again after the ttl')).rejects.toThrow(
      /must be granted/,
    );
  });
});
