import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { PendingRenewals } from '../../../src/backends/quorum/node-claim.ts';
import { SHARED } from '../../../src/core/contract/admission.ts';
import { LockError } from '../../../src/core/contract/errors.ts';
import { claim, unhandledIn } from './nodes.ts';
import { NO, outcomeOf, scripted, yes } from './scripted.ts';

const good = (validFor = 30_000) => ({ validFor });

test('a renewal is good for less where the clocks of the nodes may drift apart', async () => {
  const { nodes, lock, held, settled } = scripted(3, { drift: 0.5 });
  const mine = await held();
  const renewal = outcomeOf(lock.renew([mine]));
  for (const { renewals } of nodes) renewals[0]!.answer([good()]);
  await settled();
  expect(renewal.value).toEqual([{ validFor: expect.closeTo(15_000 / 0.99, 6) }]);
});

test('a hold that is not known here is gone, and no node is asked for it', async () => {
  const { nodes, lock, held, settled } = scripted();
  expect(await lock.renew([claim()])).toEqual(['gone']);
  expect(await lock.renew([])).toEqual([]);
  expect(nodes.map(({ renewals }) => renewals.length)).toEqual([0, 0, 0]);
  const mine = await held();
  const both = outcomeOf(lock.renew([claim(), mine]));
  for (const { renewals } of nodes) renewals[0]!.answer([good()]);
  await settled();
  expect(both.value).toEqual(['gone', good()]);
});

test('where too few nodes answered nobody knows whether a hold is there', async () => {
  const { nodes, lock, held, settled } = scripted();
  const mine = await held();
  const renewal = outcomeOf(lock.renew([mine]));
  nodes[0].renewals[0]!.answer([good()]);
  for (const { renewals } of nodes.slice(1)) renewals[0]!.fail(new Error('reset'));
  await settled();
  expect(renewal.value).toEqual(['unknown']);
});

test.each([
  ['is refused where every node refused it', [true, true, true], true],
  ['is refused where a majority did', [true, false, true], true],
  ['is granted where a majority grants it, also if a node that refused it answers first', [true, false, false], false],
])('a longer lease %s', async (_, refused, kept) => {
  const { nodes, lock, held, settled } = scripted();
  const mine = await held();
  const why = new LockError('LOCK_UNSUPPORTED', 'nothing is kept for so long');
  const renewal = outcomeOf(lock.renew([{ ...mine, ttl: 60_000 }]));
  for (const [i, { renewals }] of nodes.entries()) {
    renewals[0]!.answer([refused[i] ? { validFor: 9_000, kept: why } : good(60_000)]);
    await settled();
  }
  expect(renewal.value).toEqual([kept ? { validFor: 9_000, kept: why } : good(60_000)]);
});

test('a longer lease that one of the nodes that answered refused is refused', async () => {
  const { clock, nodes, lock, held } = scripted();
  const mine = await held();
  const why = new LockError('LOCK_UNSUPPORTED', 'nothing is kept for so long');
  const renewal = outcomeOf(lock.renew([{ ...mine, ttl: 60_000 }]));
  nodes[0].renewals[0]!.answer([good(60_000)]);
  nodes[1]!.renewals[0]!.answer([{ validFor: 9_000, kept: why }]);
  await clock.advance(500);
  expect(renewal.value, 'after the limit of the silent node').toEqual([{ validFor: 9_000, kept: why }]);
});

test('a renewal waits for a node as long as the shortest of its leases allows', async () => {
  const { clock, lock, held } = scripted();
  const short = await held({ key: 'short', ttl: 1_000 });
  const long = await held({ key: 'long', ttl: 60_000 });
  const renewal = outcomeOf(lock.renew([long, short]));
  await clock.advance(249);
  expect(renewal.value).toBeUndefined();
  await clock.advance(1);
  expect(renewal.value).toEqual(['unknown', 'unknown']);
});

test('a vote that was never given is asked for once a majority has confirmed the hold, under the last of its numbers', async () => {
  const { nodes, lock, attempt, say, asked, proposals, settled } = scripted();
  const mine = claim({ tokenCount: 8 });
  await attempt(mine);
  await say(yes(5n), yes(5n), NO);
  void lock.renew([mine]);
  for (const { renewals } of nodes.slice(0, 2)) renewals[0]!.answer([good()]);
  await settled();
  expect(asked()).toEqual([1, 1, 2]);
  expect(proposals()[2]).toBe(12n);
  void lock.renew([mine]);
  for (const [i, { renewals }] of nodes.entries()) renewals.at(-1)?.answer([i === 2 ? 'gone' : good()]);
  await settled();
  expect(asked(), 'not twice at a time').toEqual([1, 1, 2]);
});

test('of two renewals that overlap and find the same vote gone, one asks for it again', async () => {
  const { nodes, lock, held, say, asked, settled } = scripted();
  const mine = await held();
  for (let renewal = 0; renewal < 2; renewal++) void lock.renew([mine]);
  const [first, second] = [0, 1].map((renewal) => nodes.map(({ renewals }) => renewals[renewal]!));
  for (const [i, each] of first!.entries()) each.answer([i === 2 ? 'gone' : good()]);
  for (const [i, each] of second!.slice(1).entries()) each.answer([i === 1 ? 'gone' : good()]);
  await settled();
  expect(asked()).toEqual([1, 1, 2]);
  await say(undefined, undefined, yes(1n));
  second![0]!.answer([good()]);
  await settled();
  expect(asked(), 'the vote would stay behind').toEqual([1, 1, 2]);
});

test('a vote that comes while a renewal is under way, to which its node was too slow, is not asked for anew', async () => {
  const { nodes, lock, attempt, say, asked, settled } = scripted();
  const mine = claim();
  await attempt(mine);
  await say(yes(1n), yes(1n));
  void lock.renew([mine]);
  nodes[2]!.renewals[0]!.answer(['gone']);
  await say(undefined, undefined, yes(1n));
  for (const { renewals } of nodes.slice(0, 2)) renewals[0]!.answer([good()]);
  await settled();
  expect(asked()).toEqual([1, 1, 1]);
});

test('a reader asks for a vote anew under no number', async () => {
  const { nodes, lock, attempt, say, proposals, settled } = scripted();
  const mine = claim(SHARED);
  await attempt(mine);
  await say(yes(5n), yes(5n), NO);
  void lock.renew([mine]);
  for (const { renewals } of nodes.slice(0, 2)) renewals[0]!.answer([good()]);
  await settled();
  expect([nodes[2]!.attempts.length, proposals()[2]]).toEqual([2, undefined]);
});

test('nothing is asked for anew where no majority has confirmed the hold, or it was given back meanwhile', async () => {
  for (const released of [false, true]) {
    const { nodes, lock, held, asked, settled } = scripted();
    const mine = await held();
    const renewal = outcomeOf(lock.renew([mine]));
    nodes[0].renewals[0]!.answer([good()]);
    nodes[1]!.renewals[0]!.answer([released ? good() : 'gone']);
    await settled();
    if (released) void lock.release(mine).catch(() => {});
    nodes[2]!.renewals[0]!.answer(['gone']);
    await settled();
    expect(renewal.value).toEqual([released ? good() : 'gone']);
    expect(asked(), `given back: ${released}`).toEqual([1, 1, 1]);
    await lock.close();
  }
});

test('a renewal is good for no longer than another that may still arrive', () => {
  const renewals = new PendingRenewals();
  expect([renewals.begin(900), renewals.begin(5_000), renewals.begin(300)]).toEqual([900, 900, 300]);
  renewals.end(900, true);
  expect(renewals.begin(5_000), 'the shortest is on its way').toBe(300);
  renewals.end(300, true);
  expect(renewals.begin(9_000), 'the others are').toBe(5_000);
  renewals.end(5_000, true);
  renewals.end(5_000, true);
  renewals.end(9_000, true);
  expect(renewals.begin(60_000), 'all have arrived').toBe(60_000);
});

test('a renewal that nobody hears of may arrive at any time', () => {
  const renewals = new PendingRenewals();
  for (const ttl of [900, 2_000]) {
    renewals.begin(ttl);
    renewals.end(ttl, false);
  }
  expect(renewals.begin(60_000)).toBe(900);
});

test('a node whose renewal failed is good for its lease only, also when it confirms a longer one', async () => {
  const { nodes, lock, held, settled } = scripted(2);
  const mine = await held({ ttl: 600 });
  void lock.renew([mine]);
  nodes[0].renewals[0]!.answer([good(600)]);
  nodes[1]!.renewals[0]!.fail(new Error('reset'));
  await settled();
  const extended = outcomeOf(lock.renew([{ ...mine, ttl: 60_000 }]));
  for (const { renewals } of nodes) renewals[1]!.answer([good(60_000)]);
  await settled();
  expect(extended.value).toEqual([good(600)]);
});

test('a renewal without a guard against restarts asks no node for its run, so a node that is down ends no process', async () => {
  let isDown = false;
  const nodes = [1, 2, 3].map((i) => {
    const incarnation = async (): Promise<string> => {
      if (isDown) throw new Error('connection refused');
      return `run ${i}`;
    };
    return around(memory(), { incarnation });
  });
  const lock = quorum(nodes, { restartGuard: false });
  const mine = claim();
  const unhandled = await unhandledIn(async () => {
    expect(await lock.attempt(mine)).toMatchObject({ granted: true });
    isDown = true;
    expect(await lock.renew([mine])).toMatchObject([{ validFor: expect.any(Number) }]);
  });
  expect(unhandled).toEqual([]);
  await lock.close();
});

test.each([
  ['a bigint as the time of its lease', { validFor: 30_000n }],
  ['no number as the time of its lease', { validFor: Number.NaN }],
  ['a time below 0', { validFor: -1 }],
  ['no time', {}],
  ['a word that is no answer', 'held' as unknown as object],
  [
    'an object that throws',
    {
      get validFor() {
        throw new Error('odd');
      },
    },
  ],
])('a node of a user that answers a renewal with %s counts as one that did not answer', async (_, odd) => {
  const { nodes, lock, held, asked, settled } = scripted();
  const mine = await held();
  const renewed: unknown[] = [];
  const unhandled = await unhandledIn(async () => {
    for (const last of [good(), 'gone'] as const) {
      const renewal = outcomeOf(lock.renew([mine]));
      const answers = [good(), odd as never, last];
      for (const [i, { renewals }] of nodes.entries()) renewals.at(-1)!.answer([answers[i]!]);
      await settled();
      renewed.push(renewal.value);
    }
  });
  expect(unhandled).toEqual([]);
  expect([renewed, asked()], 'its vote is not asked for again').toEqual([
    [[good()], ['unknown']],
    [1, 1, 1],
  ]);
});

test('a node that answers a renewal with nothing ends no process, and leaves the hold to the other nodes', async () => {
  const { nodes, lock, held, settled } = scripted();
  const mine = await held();
  const renewal = outcomeOf(lock.renew([mine]));
  for (const [i, { renewals }] of nodes.entries()) renewals[0]!.answer(i === 0 ? (undefined as never) : [good()]);
  await settled();
  expect(renewal.value).toEqual([good()]);
});
