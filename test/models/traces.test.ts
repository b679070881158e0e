import { expect, test } from 'vitest';
import { exploreAll, exploreSome } from '../exploration/explore.ts';
import { describeOn } from '../kit/suite.ts';
import { check } from '../simulation/checkers.ts';
import { SCOPES, type Scope, type Step } from './scopes.ts';
import { LIMIT, searchOf } from './spin.ts';
import { witnessed } from './witness.ts';

/** Schedules of each plot, in every order without faults, and drawn with one. */
const MOST = 60;
const DRAWN = 60;

/** Histories of the code as steps of the model, each once; and how many schedules were outside of what the model is about. */
async function histories({ plots, stepsOf }: Scope): Promise<{ inside: Step[][]; outside: number }> {
  const inside = new Map<string, Step[]>();
  let outside = 0;
  for (const plot of plots) {
    const told: Parameters<typeof exploreAll>[0] = {
      plot,
      faults: 0,
      serve: witnessed,
      check(history) {
        const steps = [...stepsOf(history.events)];
        if (steps.every((step) => step !== undefined)) inside.set(steps.join(' '), steps);
        else outside++;
        return check(history);
      },
    };
    await exploreAll({ ...told, goOn: (schedules) => schedules < MOST });
    await exploreSome(
      { ...told, faults: 1 },
      Array.from({ length: DRAWN }, (_, i) => i + 1),
    );
  }
  return { inside: [...inside.values()], outside };
}

const END: Step = [255, 0];

/** Whether the model can go through each of these histories to its end. */
async function accepted({ model, defined = [] }: Scope, all: readonly (readonly Step[])[]): Promise<boolean[]> {
  const longest = Math.max(...all.map(({ length }) => length)) + 1;
  const rows = all.map((steps) => `{${[...steps, END].map(([what, who]) => `{${what},${who}}`).join()}}`);
  using search = await searchOf({
    model,
    defined: ['TRACE', ...defined],
    files: { 'histories.h': `static const unsigned char HISTORIES[][${longest}][2] = {\n${rows.join(',\n')}\n};\n` },
  });
  const fits: boolean[] = [];
  for (const number of all.keys()) {
    // What the model asserts, it asserts of itself: here only the steps count.
    const printed = await search.run(['-m100000', '-w20', '-A', '-E'], { HISTORY: `${number}` });
    expect(printed).not.toMatch(/max search depth too small|Search not completed/);
    fits.push(/^a way through$/m.test(printed));
  }
  return fits;
}

/** What no code of ours may do, in the steps of each model. */
const FORGED: Readonly<Record<string, readonly (readonly Step[])[]>> = {
  'grant-by-release': [
    [
      [1, 0],
      [1, 1],
      [2, 0],
      [2, 1],
    ], // two hold at once
    [
      [1, 0],
      [1, 1],
      [2, 1],
    ], // the second before the first
    [
      [1, 0],
      [2, 0],
      [3, 0],
      [4, 0],
    ], // what has left expires
  ],
  'hand-off': [
    [
      [1, 0],
      [2, 0],
      [1, 1],
      [2, 1],
    ], // a grant beside another
    [
      [1, 0],
      [2, 0],
      [2, 0],
      [2, 0],
      [2, 0],
    ], // a turn too many
    [
      [1, 0],
      [2, 0],
      [4, 0],
      [2, 0],
    ], // a turn after the expiry
  ],
  'quorum-token': [
    [
      [1, 0],
      [4, 0],
    ], // granted by one of three
    [
      [1, 0],
      [1, 10],
      [4, 0],
      [1, 1],
    ], // a node admits two
    [
      [1, 0],
      [1, 10],
      [1, 21],
      [4, 1],
    ], // granted to the other
  ],
};

describeOn('models', 'what the code does, the model does', () => {
  test.each(SCOPES)('$model: every history of the code is one of the model', { timeout: LIMIT }, async (scope) => {
    const { inside, outside } = await histories(scope);
    expect(inside.length, 'different histories').toBeGreaterThanOrEqual(10);
    expect(outside, 'schedules outside of the model').toBeLessThan(DRAWN * scope.plots.length);
    const fits = await accepted(scope, inside);
    const drifted = inside.filter((_, i) => !fits[i]).map((steps) => steps.join(' '));
    expect(drifted).toEqual([]);
  });

  test.each(SCOPES)('$model: what no code may do is none of its histories', { timeout: LIMIT }, async (scope) => {
    expect(await accepted(scope, FORGED[scope.model]!)).toEqual([false, false, false]);
  });
});
