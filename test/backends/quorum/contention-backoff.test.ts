import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { ContentionBackoff } from '../../../src/backends/quorum/contention-backoff.ts';

/** As a process sees it that began a while ago, with chance in our hands. */
async function scene(chance = 0.5, began = 0) {
  const clock = Object.assign(manualClock(), { random: () => chance });
  await clock.advance(began);
  return { clock, backoff: new ContentionBackoff(clock) };
}

/** A refusal, and the pause after it. */
function refuse(backoff: ContentionBackoff, key: string): number {
  backoff.noteRefusal(key);
  return backoff.pauseAfter(key, 'unknown');
}

test('who is refused asks again soon at first, less often the longer it waits, and at least twice a second', async () => {
  const { clock, backoff } = await scene(0.5, 6_000);
  expect(refuse(backoff, 'k')).toBe(4);
  await clock.advance(1_000);
  expect(refuse(backoff, 'k')).toBe(100);
  await clock.advance(4_000);
  expect(refuse(backoff, 'k')).toBe(500);
});

test.each([
  [0, 2],
  [0.5, 4],
  [0.75, 5],
])('chance parts rivals: with %f the first pause takes %f ms', async (chance, pause) => {
  const { backoff } = await scene(chance);
  expect(refuse(backoff, 'k')).toBe(pause);
});

test('who was refused ten seconds ago is one that asks for the first time', async () => {
  for (const [gap, pause] of [
    [9_999, 500],
    [10_000, 4],
  ] as const) {
    const { clock, backoff } = await scene();
    backoff.noteRefusal('k');
    await clock.advance(gap);
    expect(refuse(backoff, 'k'), `after ${gap} ms`).toBe(pause);
  }
});

test('a wait ends with the grant: the next one begins with short pauses', async () => {
  for (const shared of [true, false]) {
    const { clock, backoff } = await scene();
    backoff.noteRefusal('k');
    await clock.advance(1_000);
    backoff.noteGrant('k', shared);
    expect(refuse(backoff, 'k'), `shared: ${shared}`).toBe(4);
  }
});

test('a key that a rival wants is left to others for a moment when it is given back', async () => {
  for (const [chance, courtesy] of [
    [0, 6],
    [0.5, 7.5],
  ] as const) {
    const { clock, backoff } = await scene(chance, 6_000);
    backoff.noteRefusal('k');
    expect(backoff.pauseBefore('k'), 'while it waits').toBe(0);
    backoff.noteGrant('k', false);
    await clock.advance(1_000);
    backoff.noteRelease('k');
    expect(backoff.pauseBefore('k')).toBe(courtesy);
    backoff.noteRefusal('k'); // by the rival, who has it now
    expect(backoff.pauseBefore('k'), 'still').toBe(courtesy);
    await clock.advance(5);
    expect(backoff.pauseBefore('k'), 'later').toBe(courtesy - 5);
    await clock.advance(5);
    expect(backoff.pauseBefore('k'), 'when the moment is over').toBe(0);
  }
});

test('a key that nobody else wants is not left to others', async () => {
  const { backoff } = await scene();
  expect(backoff.pauseBefore('k'), 'at first').toBe(0);
  backoff.noteGrant('k', false);
  backoff.noteRelease('k');
  expect(backoff.pauseBefore('k'), 'after a hold').toBe(0);
  backoff.noteRefusal('k');
  expect(backoff.pauseBefore('k'), 'for who was refused').toBe(0);
});

test('a rival who had some of the votes wants the key', async () => {
  const { backoff } = await scene();
  backoff.noteGrant('k', true);
  backoff.noteRelease('k');
  expect(backoff.pauseBefore('k')).toBe(7.5);
});

test('a rival who was not met for ten seconds has gone', async () => {
  for (const [gap, courtesy] of [
    [9_999, 7.5],
    [10_000, 0],
  ] as const) {
    const { clock, backoff } = await scene();
    backoff.noteRefusal('k');
    backoff.noteGrant('k', false);
    await clock.advance(gap);
    backoff.noteRelease('k');
    expect(backoff.pauseBefore('k'), `after ${gap} ms`).toBe(courtesy);
  }
});

test('a rival is met again where it had some of the votes, and only there', async () => {
  for (const shared of [true, false]) {
    const { clock, backoff } = await scene();
    backoff.noteRefusal('k');
    await clock.advance(6_000);
    backoff.noteGrant('k', shared);
    await clock.advance(6_000);
    backoff.noteRelease('k');
    expect(backoff.pauseBefore('k'), `shared: ${shared}`).toBe(shared ? 7.5 : 0);
  }
});

test('of keys whose rivals have gone a thousand are remembered, those that were met last', async () => {
  const { clock, backoff } = await scene();
  for (let i = 0; i < 1_000; i++) backoff.noteRefusal(`k${i}`);
  await clock.advance(10_000);
  backoff.noteRefusal('another');
  const pauses = ['k0', 'k1'].map((key) => backoff.pauseAfter(key, 'unknown'));
  expect(pauses, 'of the one that was not met for longest, and of the next').toEqual([4, 500]);
});

test('a key whose rival has gone takes no room from the others', async () => {
  const { clock, backoff } = await scene();
  backoff.noteRefusal('wanted');
  backoff.noteRefusal('left');
  for (let i = 0; i < 998; i++) backoff.noteRefusal(`k${i}`);
  await clock.advance(9_000);
  backoff.noteGrant('wanted', true); // its rival is there
  await clock.advance(1_000);
  backoff.noteRelease('left');
  backoff.noteRefusal('another');
  backoff.noteRelease('wanted');
  expect([backoff.pauseBefore('left'), backoff.pauseBefore('wanted')]).toEqual([0, 7.5]);
});

test.each([
  ['next', 25],
  ['behind', 50],
  ['unknown', 100],
] as const)('after a second, who is %s among those that wait pauses for %i ms', async (how, pause) => {
  const { clock, backoff } = await scene();
  backoff.noteRefusal('k');
  await clock.advance(1_000);
  expect(backoff.pauseAfter('k', how)).toBe(pause);
  expect(backoff.pauseAfter('of which nothing is known', how)).toBe(4);
});

test('a wait begins with the first refusal, also if a rival had some of the votes at the first grant', async () => {
  const { clock, backoff } = await scene();
  backoff.noteGrant('k', true);
  await clock.advance(4_000);
  expect(refuse(backoff, 'k')).toBe(4);
});

test('a process that waits for very many keys asks for each less and less often', async () => {
  const { clock, backoff } = await scene();
  const keys = Array.from({ length: 1_200 }, (_, key) => `${key}`);
  for (let second = 0; second < 5; second++) {
    for (const key of keys) backoff.noteRefusal(key);
    await clock.advance(1_000);
  }
  for (const key of keys) expect(backoff.pauseAfter(key, 'unknown'), `the pause of key ${key}, ms`).toBe(500);
});
