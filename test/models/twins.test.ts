import { expect, test } from 'vitest';
import { type Exploration, replay } from '../exploration/explore.ts';
import { exploreTowards, type Guide } from '../exploration/guided.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { plant } from '../kit/planted.ts';
import { describeOn } from '../kit/suite.ts';
import { CHECKERS, check } from '../simulation/checkers.ts';
import type { Scope, Step } from './scopes.ts';
import { LIMIT, searchOf } from './spin.ts';
import { TWINS, type Twin } from './twins.ts';
import { witnessed } from './witness.ts';

/** Schedules that are begun, of which most are ended early: until the bug shows, and on sound code. */
const TO_FAIL = 10_000;
const TO_HOLD = 2_000;
/** Schedules of sound code that make the steps, where it does. */
const ENOUGH = 100;

const seeds = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

/** What spin finds wrong in the twin, as steps: of all failures the one with the shortest way. */
async function trailOf({ scope: { model }, name, depth }: Twin): Promise<Step[]> {
  // A search by breadth is over at once: it is not worth the time to compile it well.
  const compiled = ['-DSAFETY', ...(depth ? ['-DREACH'] : ['-DBFS', '-O0'])];
  using search = await searchOf({ model, defined: [name], compiled });
  expect(await search.run([`-m${depth ?? 100_000}`])).toMatch(/^pan:1: /m);
  const printed = await search.trail();
  return [...printed.matchAll(/^\s*did (\d+) (\d+)$/gm)].map(([, what, who]) => [Number(what), Number(who)]);
}

/** To a history that begins with just these steps, made by just these processes. Who dies is no step, and may be another one. */
const guideAlong = (trail: readonly Step[], { stepsOf }: Scope): Guide => ({
  steps: trail.length,
  made(events) {
    let made = 0;
    for (const step of stepsOf(events)) {
      if (step?.join() !== trail[made]!.join()) return undefined;
      made++;
      if (made === trail.length) break;
    }
    return made;
  },
});

describeOn('models', 'what goes wrong in a broken twin', () => {
  test.each(TWINS)('goes wrong in code with the same bug, and not in sound code: $name', {
    timeout: LIMIT,
  }, async (twin) => {
    const { scope, planted, foundBy, plot, faults, allowed } = twin;
    const guide = guideAlong(await trailOf(twin), scope);
    expect(guide.steps).toBeGreaterThan(2);

    using folder = temporaryFolder();
    const { createLocks, quorum, memory } = await plant(planted, folder.path);
    const broken: Exploration = {
      plot,
      faults,
      create: createLocks,
      join: quorum,
      serve: (clock, tell) => witnessed(clock, tell, memory),
      check: (history) => (guide.made(history.events) === guide.steps ? CHECKERS[foundBy](history) : []),
    };
    const { failure } = await exploreTowards(broken, guide, seeds(TO_FAIL));
    expect(failure, `what ${foundBy} finds`).toBeDefined();

    const sound: Exploration = { plot, faults, serve: witnessed, goOn: (count) => count < ENOUGH };
    expect(check((await replay(sound, failure!.schedule)).history)).toEqual([]);
    const explored = await exploreTowards(sound, guide, seeds(TO_HOLD), failure!.schedule);
    expect(explored.failure).toBeUndefined();
    expect(explored.schedules > 0, 'sound code makes these steps').toBe(allowed);
  });
});
