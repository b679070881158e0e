import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import { Ballot } from '../../../src/backends/quorum/ballot.ts';
import { Node } from '../../../src/backends/quorum/node.ts';
import type { Attempt, Claim } from '../../../src/core/contract/backend.ts';
import { CallTimeouts } from '../../../src/core/engine/call-timeouts.ts';
import { claim } from './nodes.ts';
import { NO, outcomeOf, yes } from './scripted.ts';

interface Asked {
  readonly claim: Claim;
  answer(answer: Attempt): void;
  fail(error: Error): void;
}

/** A ballot over five nodes that asks two of them first, by chance: with 0 the first two. */
function scene(chance = 0) {
  const clock = Object.assign(manualClock(), { random: () => chance });
  const asked: (Asked | undefined)[] = [1, 2, 3, 4, 5].map(() => undefined);
  const released: number[] = [];
  const common = { clock, majority: 3, maxTtl: 300_000, drift: 0.01, guarded: false, all: [], identities: [] };
  const timeouts = new CallTimeouts(clock);
  const nodes = asked.map((_, i) => {
    const attempt = (put: Claim): Promise<Attempt> =>
      new Promise((answer, fail) => {
        asked[i] = { claim: put, answer, fail };
      });
    const release = async () => {
      released.push(i);
      return { freed: true };
    };
    return new Node(around(memory({ clock }), { attempt, release }), i, { ...common, timeouts });
  });
  const made = (): Ballot => new Ballot({ nodes, majority: 3, clock, fenced: true, worth: 1, highest: 4n }, claim());
  const ballot = made();
  const outcome = outcomeOf(ballot.open(true));
  const say = async (i: number, answer: Attempt | Error): Promise<void> => {
    const question = asked[i]!;
    if (answer instanceof Error) question.fail(answer);
    else question.answer(answer);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  const proposals = (): unknown[] => asked.map((each) => (each ? each.claim.minToken : 'not asked'));
  return { clock, made, ballot, outcome, say, asked, proposals, released };
}

const REST = ['not asked', 'not asked', 'not asked'];

test('two nodes are asked first, and when both refuse, nobody else is', async () => {
  const { ballot, outcome, say, proposals, released } = scene();
  expect(proposals()).toEqual([5n, 5n, ...REST]);
  await say(1, NO);
  expect([outcome, ballot.isOver]).toEqual([{}, false]);
  await say(0, NO);
  expect(ballot.isOver).toBe(true);
  expect(outcome.value).toEqual({ granted: false });
  expect([proposals(), released]).toEqual([[5n, 5n, ...REST], []]);
});

test('when one of them says yes, the others are asked at once, and not for its number: its clock may be far ahead', async () => {
  const { outcome, say, proposals } = scene();
  await say(1, yes(9n));
  expect(proposals()).toEqual([5n, 5n, 5n, 5n, 5n]);
  await say(0, NO);
  await say(2, yes(9n));
  expect(outcome).toEqual({});
  await say(3, yes(9n));
  expect(outcome.value).toMatchObject({ granted: true, token: 9n });
});

test.each([
  ['fails', (say: ReturnType<typeof scene>['say']) => say(0, new Error('no way'))],
  ['is asked too late', (say: ReturnType<typeof scene>['say']) => say(0, { granted: false, late: true })],
])('when one of them %s, the others are asked', async (_, happen) => {
  const { outcome, say, proposals } = scene();
  await happen(say);
  expect(proposals()).toEqual([5n, 5n, 5n, 5n, 5n]);
  await say(1, NO);
  await say(2, NO);
  await say(3, NO);
  expect(outcome.value).toMatchObject({ granted: false });
});

test('one of them that hangs is given up, and the others are asked', async () => {
  const { clock, say, proposals } = scene();
  await say(1, NO);
  await clock.advance(500);
  expect(proposals()).toEqual([5n, 5n, 5n, 5n, 5n]);
});

test('a claim that is released meanwhile asks nobody else, and gives back a vote that comes later', async () => {
  const { ballot, say, proposals, released } = scene();
  void ballot.release();
  expect(released, 'where it may have a vote').toEqual([0, 1]);
  await say(0, yes(9n));
  expect(proposals()).toEqual([5n, 5n, ...REST]);
});

test('a claim that lets others go first is refused without a vote, is over, and holds nothing to give back', async () => {
  const ballot = scene().made();
  const again = ballot.outcomeFor(0);
  expect(ballot.pass()).toEqual({ granted: false });
  expect(ballot.isOver).toBe(true);
  expect(await again, 'who asked for the same').toEqual({ granted: false });
  expect(await ballot.release()).toBe(false);
});

test('all nodes are asked at once where nobody says that few are to be asked first', () => {
  const { made, proposals } = scene();
  void made().open();
  expect(proposals()).toEqual(Array(5).fill(5n));
});

test.each([
  [0.3, [1, 2]],
  [0.5, [2, 3]],
  [0.99, [4, 0]],
])('chance says which two are asked first: with %f the nodes %j', (chance, first) => {
  const { proposals } = scene(chance);
  expect(proposals()).toEqual([0, 1, 2, 3, 4].map((i) => (first.includes(i) ? 5n : 'not asked')));
});

test('a node that is silent is none of the two that are asked first', async () => {
  const { clock, made, say, asked, proposals } = scene();
  await say(1, NO);
  await clock.advance(500); // the first one misses its limit
  asked.fill(undefined);
  const next = made();
  const outcome = outcomeOf(next.open(true));
  expect(proposals()).toEqual(['not asked', 5n, 5n, 'not asked', 'not asked']);
  await say(1, NO);
  await say(2, NO);
  expect([outcome.value, proposals()[3]]).toEqual([{ granted: false }, 'not asked']);
});

test('a claim that was given back before it was put to the nodes is over for good, and no node is asked', async () => {
  const { made, asked, proposals } = scene();
  asked.fill(undefined);
  const ballot = made();
  expect(await ballot.release()).toBe(false);
  await expect(ballot.open()).rejects.toThrow('it was released before it was answered');
  expect([ballot.isOver, proposals()]).toEqual([true, Array(5).fill('not asked')]);
});
