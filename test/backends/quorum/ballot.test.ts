import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { memory } from '../../../src/backends/memory.ts';
import { SHARED } from '../../../src/core/contract/admission.ts';
import { claim } from './nodes.ts';
import { NO, scripted, yes } from './scripted.ts';

test('the first claim asks for no number, and the next for one above all that a majority gave', async () => {
  const { attempt, say, proposals, held } = scripted();
  await attempt(claim());
  expect(proposals()).toEqual([undefined, undefined, undefined]);
  await say(yes(5n, { tokenCount: 3 }), yes(7n), yes(6n, { tokenCount: 1 }));
  await attempt(claim({ key: 'other' }));
  expect(proposals(), 'after numbers of single nodes').toEqual([undefined, undefined, undefined]);
  await say(yes(5n, { tokenCount: 3 }), yes(5n, { tokenCount: 3 }));
  await attempt(claim({ key: 'third' }));
  expect(proposals(), 'above the last number of each tokenCount').toEqual([8n, 8n, 8n]);
  await held();
  await attempt(claim(SHARED));
  await say(yes(2n), yes(3n));
  await attempt(claim());
  expect(proposals(), 'never lower').toEqual([9n, 9n, 9n]);
});

test('a hold is worth what the votes under its token are worth, and no longer for a vote under another token', async () => {
  const { attempt, say } = scripted();
  const outcome = await attempt(claim());
  await say(yes(1n), yes(86_400_000_000n));
  expect(outcome.value, 'with two tokens, one of them far ahead').toBeUndefined();
  await say(undefined, undefined, yes(1n, { validFor: 10_000 }));
  expect(outcome.value).toMatchObject({ granted: true, token: 1n });
  expect(outcome.value).toHaveProperty('validFor', expect.closeTo(10_000, -3));
});

test.each([
  [{ minToken: 9n }, 9n],
  [{ minToken: 5n }, 5n],
  [{ minToken: 4n }, 5n],
  [{}, 5n],
])('with %o after 4 the nodes are asked for %s', async (more, proposal) => {
  const { attempt, proposals, held } = scripted();
  await held({}, 4n);
  await attempt(claim(more));
  expect(proposals()).toEqual([proposal, proposal, proposal]);
});

test('it is open until a majority gave one number; who gave a lower one is asked for it under the same id', async () => {
  const { nodes, attempt, say, asked, proposals } = scripted();
  const outcome = await attempt(claim());
  await say(yes(5n), yes(9n));
  expect(outcome.value).toBeUndefined();
  expect(asked()).toEqual([2, 1, 1]);
  expect(proposals()).toEqual([9n, undefined, undefined]);
  const [first, second] = nodes[0].attempts;
  expect(second!.question.id).toBe(first!.question.id);
  await say(yes(9n));
  expect(outcome.value).toMatchObject({ granted: true, token: 9n });
});

test('a node that cannot raise a number is asked under a new id, once the old one is released', async () => {
  const { nodes, settled, attempt, say, asked, released } = scripted();
  const outcome = await attempt(claim());
  await say(yes(5n), yes(9n), NO);
  await say(yes(5n));
  expect([asked(), released()]).toEqual([
    [2, 1, 1],
    [1, 0, 0],
  ]);
  nodes[0].releases[0]!.answer({ freed: true });
  await settled();
  expect(asked()).toEqual([3, 1, 1]);
  const [first, , third] = nodes[0].attempts;
  expect(third!.question.id).not.toBe(first!.question.id);
  expect(nodes[0].releases[0]!.question.id).toBe(first!.question.id);
  expect(third!.question.minToken).toBe(9n);
  await say(yes(9n));
  expect(outcome.value).toMatchObject({ granted: true, token: 9n });
});

test('a node that cannot raise a number is not asked anew when the claim was given back meanwhile', async () => {
  const { nodes, lock, attempt, say, asked, released, settled } = scripted();
  const mine = claim();
  await attempt(mine);
  await say(yes(5n), yes(9n), NO);
  await say(yes(5n));
  void lock.release(mine);
  await settled();
  for (const { answer } of nodes[0].releases) answer({ freed: true });
  await settled();
  expect(asked()).toEqual([2, 1, 1]);
  expect(released()[0], 'under either id').toBe(2);
  await lock.close();
});

test('readers have no number to agree on', async () => {
  const { attempt, say, asked } = scripted();
  const outcome = await attempt(claim(SHARED));
  await say(yes(5n), yes(9n));
  expect(asked()).toEqual([1, 1, 1]);
  const { value: answer } = outcome;
  expect(answer).toMatchObject({ granted: true, validFor: 30_000 });
  expect(answer?.granted && answer.token > 2n ** 30n, 'a number of its own').toBe(true);
});

test('where a node gives no tokens, nobody has a number to agree on', async () => {
  const { attempt, say, asked } = scripted(3, {}, { traits: { ...memory().traits, fencing: 'never' } });
  const outcome = await attempt(claim());
  await say(yes(5n), yes(9n));
  expect(asked()).toEqual([1, 1, 1]);
  expect(outcome.value).toMatchObject({ granted: true, validFor: 30_000 });
});

test('a lost claim is given back at once, also where the answer is still to come', async () => {
  const { attempt, say, released } = scripted();
  const outcome = await attempt(claim());
  await say(NO, NO);
  expect(outcome.value).toMatchObject({ granted: false });
  expect(released()).toEqual([0, 0, 1]);
});

test('a vote that comes after the outcome goes back, where the release may have come before it', async () => {
  const { nodes, attempt, say, released, settled } = scripted();
  await attempt(claim());
  await say(NO, NO);
  await say(undefined, undefined, yes(5n));
  expect(released(), 'while it is released').toEqual([0, 0, 1]);
  nodes[2]!.releases[0]!.answer({ freed: false });
  await settled();
  expect(released()).toEqual([0, 0, 2]);
});

test('a vote that comes when its node was given up goes back where it is not wanted any more', async () => {
  const { clock, nodes, attempt, say, released, settled } = scripted();
  await attempt(claim());
  await clock.advance(400);
  await say(NO);
  await clock.advance(100);
  expect(released(), 'when it is lost').toEqual([0, 1, 1]);
  for (const { releases } of nodes.slice(1)) releases[0]!.answer({ freed: false });
  await settled();
  expect(released(), 'as the vote may have come after the release').toEqual([0, 2, 1]);
  await say(undefined, yes(5n), NO);
  await settled();
  expect(released(), 'when it has come').toEqual([0, 3, 1]);
});

test('a vote that comes when its node was given up stays, where it is wanted', async () => {
  const { clock, nodes, attempt, say, released, settled } = scripted();
  await attempt(claim());
  await say(undefined, yes(5n), yes(5n));
  await clock.advance(500);
  nodes[0].attempts[0]!.answer(yes(5n));
  await settled();
  expect(released()).toEqual([0, 0, 0]);
});

test('a vote that comes when its node was asked anew goes back', async () => {
  const { clock, nodes, lock, attempt, say, released, asked, settled } = scripted();
  const mine = claim();
  await attempt(mine);
  await say(undefined, yes(5n), yes(5n));
  await clock.advance(500);
  void lock.renew([mine]);
  for (const [i, { renewals }] of nodes.entries()) renewals[0]!.answer([i === 0 ? 'gone' : { validFor: 30_000 }]);
  await settled();
  expect(asked(), 'the node that may have some of it').toEqual([2, 1, 1]);
  const [first, second] = nodes[0].attempts;
  first!.answer(yes(5n));
  await settled();
  expect(released()).toEqual([1, 0, 0]);
  expect(nodes[0].releases[0]!.question.id).toBe(first!.question.id);
  second!.answer(yes(5n));
  await settled();
  expect(released()).toEqual([1, 0, 0]);
});

test('a vote that comes after its hold was given back goes back', async () => {
  const { nodes, lock, attempt, say, released, settled } = scripted();
  const mine = claim();
  await attempt(mine);
  await say(yes(5n), yes(5n));
  void lock.release(mine).catch(() => {});
  await settled();
  expect(released()).toEqual([1, 1, 1]);
  nodes[2]!.releases[0]!.answer({ freed: false });
  await say(undefined, undefined, yes(5n));
  expect(released()).toEqual([1, 1, 2]);
  await lock.close();
});

test('a claim that is given back in the moment in which it is lost leaves nothing', async () => {
  for (let turns = 0; turns < 8; turns++) {
    const { nodes, lock, attempt, say, released, settled } = scripted();
    const mine = claim();
    await attempt(mine);
    for (const { attempts } of nodes.slice(0, 2)) attempts[0]!.answer(NO);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    void lock.release(mine).catch(() => {});
    await settled();
    for (const { answer } of nodes[2]!.releases) answer({ freed: false });
    await settled();
    const before = released()[2]!;
    await say(undefined, undefined, yes(5n));
    expect(released()[2], `given back ${turns} turns after the last answer`).toBe(before + 1);
    await lock.close();
  }
});

test('a claim that is given back while it is asked is not granted, whatever the nodes say', async () => {
  const { nodes, lock, attempt, say, settled } = scripted();
  const mine = claim();
  const outcome = await attempt(mine);
  const release = lock.release(mine);
  await settled();
  expect(outcome.error?.message).toMatch('released before it was answered');
  await say(yes(5n), yes(5n), yes(5n));
  for (const { releases } of nodes) releases[0]!.answer({ freed: true });
  expect(await release).toEqual({ freed: true });
  expect(outcome.value).toBeUndefined();
});

test('a node that is silent is not asked, and has nothing to give back', async () => {
  const { clock, nodes, lock, attempt, say, asked, released, settled } = scripted();
  const first = claim();
  await attempt(first);
  await say(yes(5n), yes(5n));
  await clock.advance(600);
  const next = await attempt(claim({ key: 'other' }));
  expect(asked()).toEqual([2, 2, 1]);
  await say(yes(6n), NO);
  expect(next.value).toMatchObject({ granted: false });
  expect(released()).toEqual([1, 0, 0]);
  const last = await attempt(claim({ key: 'third' }));
  for (const { attempts } of nodes.slice(0, 2)) attempts.at(-1)!.fail(new Error('reset'));
  await settled();
  expect(last.error?.message).toMatch(
    /^2 of 3 nodes cannot vote, and 2 votes are needed: node 1 \(memory\): reset; node 2 \(memory\) has not answered yet; node 3 \(memory\): is silent\. Bring back/,
  );
  await lock.close();
});

test('a lease is good from when the nodes were asked, less what clocks may drift apart', async () => {
  const grantOf = async (drift: number): Promise<unknown> => {
    const { clock, attempt, say } = scripted(3, { drift });
    const outcome = await attempt(claim({ ttl: 10_000 }));
    await clock.advance(200);
    await say(yes(5n, { validFor: 10_000 }), yes(5n, { validFor: 99_000 }), undefined);
    return outcome.value;
  };
  // Core takes off a hundredth.
  expect(await grantOf(0)).toMatchObject({ validFor: 10_000 });
  expect(await grantOf(0.01)).toMatchObject({ validFor: 10_000 });
  expect(await grantOf(0.2)).toMatchObject({ validFor: expect.closeTo((10_000 * 0.8) / 0.99, 6) });
});

test.each([
  ['a moment before', 195, true],
  ['when', 196, false],
])('a majority that answers %s the lease is over', async (_, ms, granted) => {
  const { clock, attempt, say, released } = scripted();
  const outcome = await attempt(claim({ ttl: 400 }));
  await say(yes(5n, { validFor: 200 }), NO);
  await clock.advance(ms);
  await say(undefined, undefined, yes(5n, { validFor: 200 }));
  expect([outcome.value?.granted, released()]).toEqual([granted, granted ? [0, 0, 0] : [1, 0, 1]]);
});

test('a hold is lost when so many nodes say that their votes are gone that no majority is left', async () => {
  const { nodes, attempt, say, settled } = scripted(5);
  const sessions = nodes.map(() => new AbortController());
  const outcome = await attempt(claim());
  await say(...sessions.map(({ signal }) => yes(5n, { lost: signal })));
  const { value: answer } = outcome;
  if (!answer?.granted) throw new Error('refused');
  const listeners = () => sessions.map(({ signal }) => getEventListeners(signal, 'abort').length);
  expect(listeners()).toEqual([1, 1, 1, 1, 1]);
  for (const [i, lost] of [false, false, true].entries()) {
    sessions[i]!.abort();
    await settled();
    expect(answer.lost?.aborted, `after ${i + 1} of 5`).toBe(lost);
  }
});

test('a hold of nodes that cannot tell has no signal, and one session is enough for it to have one', async () => {
  const { attempt, say, nodes } = scripted();
  const plain = await attempt(claim());
  await say(...nodes.map(() => yes(5n)));
  expect(plain.value).toMatchObject({ granted: true, lost: undefined });
  const session = new AbortController();
  const other = await attempt(claim({ key: 'other' }));
  await say(yes(8n), yes(8n, { lost: session.signal }));
  expect(other.value).toMatchObject({ lost: expect.any(AbortSignal) });
});

test('nobody listens to the session of a vote that is asked for anew, released, refused or too late', async () => {
  const { nodes, lock, attempt, say } = scripted();
  const sessions = nodes.map(() => new AbortController());
  const listeners = () => sessions.map(({ signal }) => getEventListeners(signal, 'abort').length);
  const carried = (i: number, token: bigint) => yes(token, { lost: sessions[i]!.signal });
  const mine = claim();
  await attempt(mine);
  await say(carried(0, 5n), carried(1, 9n));
  expect(listeners(), 'one is asked anew').toEqual([0, 1, 0]);
  await say(carried(0, 9n), undefined, carried(2, 9n));
  expect(listeners()).toEqual([1, 1, 1]);
  void lock.release(mine);
  expect(listeners(), 'of a hold that was given back').toEqual([0, 0, 0]);
  await attempt(claim({ key: 'other' }));
  await say(carried(0, 10n), NO, NO);
  expect(listeners(), 'of a claim that was refused').toEqual([0, 0, 0]);
  await attempt(claim({ key: 'third' }));
  await say(NO, NO, carried(2, 11n));
  expect(listeners(), 'of a vote that came too late').toEqual([0, 0, 0]);
});

/** A hold of three sessions, two of whose votes were gone and are asked for anew; neither is answered yet. */
async function mending() {
  const it = scripted();
  const sessions = it.nodes.map(() => new AbortController());
  const mine = claim();
  const outcome = await it.attempt(mine);
  await it.say(...sessions.map(({ signal }) => yes(5n, { lost: signal })));
  for (const gone of [2, 0]) {
    void it.lock.renew([mine]);
    for (const [i, { renewals }] of it.nodes.entries())
      renewals.at(-1)!.answer([i === gone ? 'gone' : { validFor: 30_000 }]);
    await it.settled();
  }
  expect(it.asked()).toEqual([2, 1, 2]);
  const isLost = (): boolean | undefined => (outcome.value?.granted ? outcome.value.lost?.aborted : undefined);
  return { ...it, mine, isLost };
}

test('a hold whose votes are asked for anew is lost when so many nodes refuse that no majority is left', async () => {
  const { say, isLost } = await mending();
  await say(NO);
  expect(isLost()).toBe(false);
  await say(undefined, undefined, NO);
  expect(isLost()).toBe(true);
});

test('a hold that was given back is not lost, however many nodes say then that they do not have it', async () => {
  const { lock, mine, say, isLost } = await mending();
  void lock.release(mine).catch(() => {});
  await say(NO, undefined, NO);
  expect(isLost()).toBe(false);
  await lock.close();
});
