import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SCENES } from '../../lab/scenes/index.ts';
import { PEOPLE } from '../../lab/stage/events.ts';
import { type Deed, type Fault, faultsText, readFaults } from '../../lab/stage/faults.ts';
import { play } from '../../lab/stage/play.ts';
import { harms, type WayName } from '../../lab/stage/scene.ts';
import { LANGUAGES, sentence } from '../../lab/words/index.ts';
import { randomFrom } from '../../products/testing/random.ts';
import { Choice } from '../simulation/choice.ts';

/** `LAB_SEEDS=1000` looks for longer. */
const SEEDS = Number(process.env.LAB_SEEDS ?? 50);
const planned = SCENES.filter(({ harm }) => harm);

test.each(planned)(`$name: the naive way does its harm from every seed, and holdfast none`, {
  timeout: 60_000,
}, async (scene) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const [naive, ours] = [await play(scene, 'naive', seed), await play(scene, 'holdfast', seed)];
    const again = `#scene=${scene.name}&seed=${seed}`;
    expect(harms(naive.tally), `${again}&way=naive`).toContain(scene.harm);
    expect(harms(ours.tally), `${again}&way=holdfast: ${JSON.stringify(ours.tally)}`).toEqual([]);
    for (const way of ['naive', 'holdfast'] as const) {
      const told = (way === 'naive' ? naive : ours).happenings.map(({ what }) => what);
      const missing = scene[way].shows.filter((what) => !told.includes(what));
      expect(missing, `${again}&way=${way}: what its words say`).toEqual([]);
    }
    expect(ours.tally.done, `${again}&way=holdfast: nobody did their job`).toBeGreaterThan(0);
  }
});

test('there are a dozen scenes, each with a name of its own, and one in which people do it all', () => {
  expect(planned.length).toBeGreaterThanOrEqual(12);
  expect(new Set(SCENES.map(({ name }) => name)).size).toBe(SCENES.length);
  expect(SCENES.some(({ harm }) => harm === undefined)).toBe(true);
});

test.each([
  'naive',
  'holdfast',
] as const)('a run is the same every time, from its seed and its faults: %s', async (way) => {
  const faults = readFaults('pause-A@150,lose-B-engine_1-1@270,go-A@900,cut-C@1000,mend-C@1500');
  for (const scene of SCENES) {
    const one = await play(scene, way, 7, faults);
    expect(await play(scene, way, 7, faults), scene.name).toEqual(one);
    expect((await play(scene, way, 8, faults)).messages, scene.name).not.toEqual(one.messages);
  }
});

test('what somebody does changes nothing that was before', async () => {
  for (const scene of SCENES) {
    const before = await play(scene, 'holdfast', 3);
    const after = await play(scene, 'holdfast', 3, [{ at: 400, deed: 'pause', on: 'A' }]);
    const until = <T extends { readonly at: number }>(all: readonly T[]): T[] => all.filter(({ at }) => at < 400);
    expect(until(after.happenings), scene.name).toEqual(until(before.happenings));
    expect(until(after.moments), scene.name).toEqual(until(before.moments));
  }
});

test('who was paused for a while and is sent on before goes on once', async () => {
  const scene = SCENES.find(({ name }) => name === 'stale-write')!;
  const { happenings } = await play(scene, 'naive', 1, readFaults('go-A@600'));
  const went = happenings.filter(({ what, who }) => what === 'goes-on' && who === 'A');
  expect(went.map(({ at }) => at)).toEqual([600]);
});

/** Anything that a person could do on the page. */
function anything(choice: Choice): Fault[] {
  const deeds: readonly Deed[] = ['take', 'take', 'pause', 'go', 'cut', 'mend', 'kill', 'lose', 'hold'];
  const faults = Array.from({ length: choice.whole(1, 8) }, () => {
    const deed = choice.pick(deeds);
    const who = choice.pick(['A', 'B', 'C']);
    const message = `${choice.pick([`${who}-engine 1`, `engine 1-${who}`])}-${choice.whole(1, 6)}`;
    return { at: Math.round(choice.between(0, 3_000)), deed, on: deed === 'lose' || deed === 'hold' ? message : who };
  });
  return faults.sort((a, b) => a.at - b.at);
}

test('whatever people do, with holdfast never two count on the lock, and no write is lost', {
  timeout: 60_000,
}, async () => {
  const seen = { fenced: 0, done: 0 };
  for (let seed = 1; seed <= SEEDS * 4; seed++) {
    const choice = new Choice(randomFrom(seed));
    const scene = choice.pick(SCENES);
    const faults = anything(choice);
    const { tally } = await play(scene, 'holdfast', seed, faults);
    const { two, lost } = tally;
    expect({ two, lost }, `#scene=${scene.name}&way=holdfast&seed=${seed}&do=${faultsText(faults)}`).toEqual({
      two: 0,
      lost: 0,
    });
    seen.fenced += tally.fenced;
    seen.done += tally.done;
  }
  expect(seen.done).toBeGreaterThan(SEEDS);
  expect(seen.fenced, 'no schedule had a stale write').toBeGreaterThan(0);
});

test('what people did is kept in an address, and what is not understood is left out', () => {
  const faults = readFaults('pause-A@12.5,lose-A-engine_1-3@900,explode-A@5,kill-B,take-C@1e9,go-A@7');
  expect(faults).toEqual([
    { at: 12.5, deed: 'pause', on: 'A' },
    { at: 900, deed: 'lose', on: 'A-engine 1-3' },
    { at: 7, deed: 'go', on: 'A' },
  ]);
  expect(readFaults(faultsText(faults))).toEqual(faults);
  expect(readFaults('')).toEqual([]);
});

test.each(['naive', 'holdfast'] satisfies WayName[])('everything that is told has a place in time: %s', async (way) => {
  for (const scene of SCENES) {
    const { happenings, moments, ends } = await play(scene, way, 1);
    for (const { engines } of moments)
      for (const { line } of engines) for (const { who } of line) expect(PEOPLE, scene.name).toContain(who);
    const over = new Set<string>();
    for (const { what, who, place } of happenings) {
      if (what !== 'expired') over.delete(`${who} at ${place}`);
      else expect(over.has(`${who} at ${place}`), `${scene.name}: an expiry is told once`).toBe(false);
      if (what === 'expired') over.add(`${who} at ${place}`);
    }
    const times = happenings.map(({ at }) => at);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(Math.max(...times)).toBeLessThanOrEqual(ends);
    expect(
      moments.every(({ at }, i) => i === 0 || at > moments[i - 1]!.at),
      scene.name,
    ).toBe(true);
  }
});

test.each(
  Object.entries(LANGUAGES),
)('every scene has its words, and every sentence is whole: %s', async (_language, words) => {
  expect(Object.keys(words.scenes).sort()).toEqual(SCENES.map(({ name }) => name).sort());
  for (const scene of SCENES)
    for (const way of ['naive', 'holdfast'] as const) {
      const { happenings } = await play(
        scene,
        way,
        1,
        readFaults('cut-A@60,mend-A@900,kill-C@300,pause-B@400,hold-B-engine_1-1@230'),
      );
      for (const happening of happenings) {
        const said = sentence(words, happening, (scene[way].engines ?? 1) > 1);
        expect(said, `${scene.name}, ${way}: ${JSON.stringify(happening)}`).toMatch(/^[^{}]+[.!。！]$/);
        expect(said).not.toMatch(/undefined|NaN|Infinity|null/);
      }
    }
});

test('the guide names every scene', () => {
  const guide = readFileSync(new URL('../../docs/guides/traps.md', import.meta.url), 'utf8');
  for (const { name } of SCENES) expect(guide).toContain(`| \`${name}\` |`);
});
