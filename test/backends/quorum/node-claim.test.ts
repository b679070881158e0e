import { expect, test } from 'vitest';
import type { Node } from '../../../src/backends/quorum/node.ts';
import { type ClaimOfAll, NodeClaim } from '../../../src/backends/quorum/node-claim.ts';
import { type NodeAnswer, REFUSED, TOO_LATE } from '../../../src/backends/quorum/tally.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';
import { claim } from './nodes.ts';
import { NO, yes } from './scripted.ts';

type Told = (freed: boolean | undefined) => void;

/** One claim at one node, and what goes to and fro between them. */
function scene(guard: { known?: () => Promise<void>; doubt?: Error } = {}) {
  const asked: { claim: Claim; sent: number }[] = [];
  const releases: { handle: Claim; within: number; expiry: number; told: Told }[] = [];
  const failures: unknown[] = [];
  const node = {
    attempt: (claim: Claim, sent: number) => asked.push({ claim, sent }),
    releases: {
      begin: (handle: Claim, within: number, expiry: number, told: Told) =>
        releases.push({ handle, within, expiry, told }),
    },
    guard: { confirmRun: guard.known ?? (() => undefined), doubt: guard.doubt, review() {} },
    noteFailure: (why: unknown) => failures.push(why),
    limited: (confirmation: Promise<void>) => confirmation,
  };
  const heard: NodeAnswer[] = [];
  const whole = {
    ...{ tag: 'tag', within: 100, isOver: () => false, claim: claim({ ttl: 1_000 }) },
    receive: (_: NodeClaim, said: NodeAnswer) => void heard.push(said),
  };
  const it = new NodeClaim(whole as ClaimOfAll, node as unknown as Node, 0, 'id', 5n);
  return { it, whole, asked, releases, failures, heard };
}

/** Released by who holds it; its vote comes when nobody wants it any more; what the node says to the release that is under way for longest. */
type Step = 'asked' | 'released' | 'voted' | 'freed' | 'nothing' | 'unknown';

test.each<[string, Step[], number]>([
  ['a vote that is not wanted goes back', ['asked', 'voted'], 1],
  ['a release that freed the vote took it along', ['asked', 'released', 'voted', 'freed'], 1],
  ['so it did where the vote is heard later', ['asked', 'released', 'freed', 'voted'], 1],
  ['and however often it is heard', ['asked', 'released', 'voted', 'freed', 'voted', 'voted'], 1],
  ['a release that found nothing came before the vote', ['asked', 'released', 'nothing', 'voted'], 2],
  ['so it did where the vote is heard first', ['asked', 'released', 'voted', 'nothing'], 2],
  ['and once more is enough', ['asked', 'released', 'voted', 'nothing', 'nothing'], 2],
  ['and more than one vote is heard', ['asked', 'released', 'voted', 'voted', 'nothing', 'freed'], 2],
  [
    'and a vote is heard while it is released once more',
    ['asked', 'released', 'voted', 'nothing', 'voted', 'nothing'],
    3,
  ],
  ['what nobody knows is tried again by itself', ['asked', 'released', 'voted', 'unknown'], 1],
  ['a vote that comes after that goes back', ['asked', 'released', 'unknown', 'voted'], 2],
  ['so it does after both', ['asked', 'released', 'voted', 'unknown', 'voted'], 2],
  [
    'one that was asked twice may vote twice: what was freed may be the first',
    ['asked', 'asked', 'released', 'freed', 'voted'],
    2,
  ],
  ['so it may where the second is heard first', ['asked', 'asked', 'released', 'voted', 'freed'], 2],
  ['of two releases either frees it', ['asked', 'released', 'released', 'nothing', 'freed', 'voted'], 2],
  ['or neither', ['asked', 'released', 'released', 'nothing', 'nothing', 'voted'], 3],
  ['or nobody knows', ['asked', 'released', 'released', 'nothing', 'unknown', 'voted'], 3],
  ['and both may', ['asked', 'released', 'released', 'freed', 'freed', 'voted'], 2],
  [
    'which of them was last nobody knows where one freed nothing',
    ['asked', 'released', 'released', 'freed', 'nothing', 'voted'],
    3,
  ],
  ['or did not answer', ['asked', 'released', 'released', 'freed', 'unknown', 'voted'], 3],
])('no vote is left at a node, and none is released in vain: %s', (_, steps, count) => {
  const { it, releases } = scene();
  let answered = 0;
  for (const step of steps) {
    if (step === 'asked') it.ask(0);
    else if (step === 'released') it.release();
    else if (step === 'voted') it.releaseLateVote();
    else releases[answered++]!.told({ freed: true, nothing: false, unknown: undefined }[step]);
  }
  expect(releases).toHaveLength(count);
});

test('a node knows it under an id of its own, in no line, by the tag of the whole', () => {
  const { it, asked, whole } = scene();
  it.ask(7);
  expect(asked).toEqual([
    {
      claim: { ...whole.claim, id: 'id', queue: false, within: 100, minToken: 5n, label: 'tag test' },
      sent: 7,
    },
  ]);
  expect(it.minToken).toBe(5n);
  it.raise(9n, 8);
  expect(asked[1]).toMatchObject({ claim: { id: 'id', minToken: 9n }, sent: 8 });
  expect(it.minToken).toBe(9n);
});

test('it is tried to release as long as it may last, with the lease that it was renewed to', () => {
  const { it, releases, whole } = scene();
  it.ask(0);
  const told: unknown[] = [];
  whole.claim = { ...whole.claim, ttl: 60_000 };
  it.release((freed) => told.push(freed));
  expect(releases).toMatchObject([{ handle: { id: 'id' }, within: 100, expiry: 60_100 }]);
  releases[0]!.told(false);
  expect(told).toEqual([false]);
  expect(it.current).toMatchObject({ id: 'id', ttl: 60_000 });
});

test('a vote is good for its lease at most, counted from when the node was asked', () => {
  for (const [validFor, until] of [
    [400, 900],
    [5_000, 1_500],
  ] as const) {
    const { it, heard } = scene();
    it.ask(500);
    it.onAnswer(yes(8n, { validFor }));
    it.onAnswer(yes(8n, { validFor, tokenCount: 3 }));
    expect(heard).toEqual([1, 3].map((tokenCount) => ({ kind: 'yes', token: 8n, tokenCount, until, lost: undefined })));
  }
});

test('a grant whose run is not confirmed before the ballot is over goes back', async () => {
  for (const over of [true, false]) {
    const { it, whole, releases, failures } = scene({ known: () => Promise.reject(new Error('no answer')) });
    whole.isOver = () => over;
    it.ask(0);
    it.onAnswer(yes(8n));
    await new Promise(setImmediate);
    expect(failures, 'the vote does not count').toHaveLength(1);
    expect(releases, `the ballot is over: ${over}`).toHaveLength(over ? 1 : 0);
  }
});

test.each([
  ['whose node restarted', { doubt: new Error('restarted') }, undefined],
  ['whose session ended', {}, AbortSignal.abort()],
])('a grant %s before the grant is counted is released if the ballot is over', (_, guard, lost) => {
  for (const over of [true, false]) {
    const { it, whole, releases, heard } = scene(guard);
    whole.isOver = () => over;
    it.ask(0);
    it.onAnswer(yes(8n, { lost }));
    expect(heard).toMatchObject([{ kind: 'no', mayHold: true }]);
    expect(releases, `the ballot is over: ${over}`).toHaveLength(over ? 1 : 0);
  }
});

test('a node that refuses has nothing of it, late or not', () => {
  const { it, heard, releases } = scene();
  it.onAnswer(NO);
  it.onAnswer({ granted: false, late: true });
  expect(heard).toEqual([REFUSED, TOO_LATE]);
  expect(heard).toEqual([
    { kind: 'no', why: 'refused', mayHold: false },
    { kind: 'no', why: 'late', mayHold: false },
  ]);
  expect(releases).toEqual([]);
});

test('a node that fails may have some of it', () => {
  const { it, heard, failures } = scene();
  const why = new Error('connection lost');
  it.onFailure(why);
  it.onFailure('a text');
  expect(failures).toEqual([why, 'a text']);
  expect(heard).toEqual([
    { kind: 'no', why, mayHold: true },
    { kind: 'no', why: new Error('a text'), mayHold: true },
  ]);
});

test('a vote of a node that is not to be trusted does not count', async () => {
  const doubt = new Error('started anew');
  const doubtful = scene({ doubt });
  doubtful.it.onAnswer(yes(1n));
  expect(doubtful.heard).toEqual([{ kind: 'no', why: doubt, mayHold: true }]);
  const late = scene({ known: () => Promise.resolve() });
  late.it.onAnswer(yes(1n));
  expect(late.heard, 'before it is known').toEqual([]);
  await new Promise(setImmediate);
  expect(late.heard).toMatchObject([{ kind: 'yes' }]);
  const unknown = scene({ known: () => Promise.reject(doubt) });
  unknown.it.onAnswer(yes(1n));
  await new Promise(setImmediate);
  expect(unknown.heard).toEqual([{ kind: 'no', why: doubt, mayHold: true }]);
  expect(unknown.failures).toEqual([doubt]);
});

test('a vote that cannot be counted after its run is confirmed counts as a failure', async () => {
  const { it, whole, heard, failures } = scene({ known: () => Promise.resolve() });
  const why = new Error('no such grant');
  whole.receive = (_, said) => {
    if (said.kind === 'yes') throw why;
    heard.push(said);
  };
  it.onAnswer(yes(1n));
  await new Promise(setImmediate);
  expect(failures).toEqual([why]);
  expect(heard).toEqual([{ kind: 'no', why, mayHold: true }]);
});

test('a vote that comes after its node was given up goes back when nobody wants it', () => {
  const { it, whole, releases } = scene();
  it.ask(0);
  it.onLateAnswer(yes(1n));
  expect(releases, 'while it may be asked for once more').toHaveLength(0);
  whole.isOver = () => true;
  it.onLateAnswer(NO);
  expect(releases, 'for a refusal').toHaveLength(0);
  it.onLateAnswer(yes(1n));
  expect(releases).toHaveLength(1);
});
