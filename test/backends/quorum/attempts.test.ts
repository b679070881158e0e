import { expect, test } from 'vitest';
import { claim } from './nodes.ts';
import { NO, outcomeOf, scripted, yes } from './scripted.ts';

test('the first use waits a quarter of a second for the nodes to say who they are, and no other use does', async () => {
  let named = 0;
  const incarnation = (): Promise<never> => {
    named++;
    return new Promise(() => {});
  };
  const { clock, lock, attempt, asked, settled } = scripted(3, {}, { incarnation });
  const first = await attempt(claim());
  await clock.advance(249);
  expect([first, asked()]).toEqual([{}, [0, 0, 0]]);
  await clock.advance(1);
  expect([first.error?.message, asked()], 'when nobody answered').toEqual([
    '3 of 3 nodes cannot vote, and 2 votes are needed: node 1 (memory): is silent; node 2 (memory): is silent; ' +
      'node 3 (memory): is silent. Bring back the nodes that are down; check() looks at each',
    [0, 0, 0],
  ]);
  await clock.advance(500);
  const before = named;
  await attempt(claim());
  expect(named - before, 'nodes that are asked who they are once more').toBe(3);
  void lock.close();
  await settled();
});

test('the nodes are asked at once when each has said who it is', async () => {
  const { nodes, attempt, asked } = scripted();
  for (const [i, { backend }] of nodes.entries()) Object.assign(backend, { incarnation: () => `run ${i}` });
  await attempt(claim());
  expect(asked()).toEqual([1, 1, 1]);
});

test('a claim that is given back while the nodes say who they are is put to none of them', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { lock, attempt, asked, settled } = scripted(3, {}, { incarnation: () => promise });
  const mine = claim();
  const outcome = await attempt(mine);
  expect(await lock.release(mine)).toEqual({ freed: false });
  await settled();
  resolve('a');
  await settled();
  expect([outcome.error?.message, asked()]).toEqual(['it was released before it was answered', [0, 0, 0]]);
});

test('an attempt again while the first is asked is good from when the nodes were asked', async () => {
  const { clock, lock, attempt, say } = scripted();
  await clock.advance(5_000);
  const mine = claim();
  await attempt(mine);
  await clock.advance(99);
  const again = outcomeOf(lock.attempt(mine));
  await say(yes(1n), yes(1n));
  expect(again.value).toMatchObject({ granted: true, validFor: 30_000 - 100 });
});

test('who is refused is told when to ask again, and who is granted is not', async () => {
  const { attempt, say } = scripted();
  const refused = await attempt(claim());
  await say(NO, NO);
  expect(refused.value).toEqual({ granted: false, retryAfter: expect.any(Number) });
  const granted = await attempt(claim({ key: 'other' }));
  await say(yes(1n), yes(1n));
  expect(granted.value).toMatchObject({ granted: true });
  expect(granted.value).not.toHaveProperty('retryAfter');
});

test('a key of which a rival had a vote is left to it for a moment when it was given back', async () => {
  const { clock, nodes, lock, attempt, say, asked } = scripted();
  clock.random = () => 0;
  const mine = claim();
  await attempt(mine);
  await say(NO, yes(1n), yes(1n));
  const release = lock.release(mine);
  for (const { releases } of nodes) releases[0]?.answer({ freed: true });
  await release;
  await attempt(claim());
  await clock.advance(5.5);
  void lock.attempt(claim()).catch(() => {});
  await clock.advance(0.4);
  expect(asked()).toEqual([1, 1, 1]);
  await clock.advance(0.1);
  expect(asked(), 'who came first').toEqual([2, 2, 2]);
  await clock.advance(1);
  expect(asked()).toEqual([3, 3, 3]);
});

test('a key that nobody else had a vote of is not left alone', async () => {
  const { nodes, lock, held, attempt, asked } = scripted();
  const mine = await held();
  const release = lock.release(mine);
  for (const { releases } of nodes) releases[0]!.answer({ freed: true });
  await release;
  await attempt(claim());
  expect(asked()).toEqual([2, 2, 2]);
});

test('a key is left alone also where nobody knows whether it was given back', async () => {
  const { nodes, lock, attempt, say, asked, settled } = scripted();
  const mine = claim();
  await attempt(mine);
  await say(NO, yes(1n), yes(1n));
  const release = outcomeOf(lock.release(mine));
  for (const { releases } of nodes) releases[0]?.fail(new Error('reset'));
  await settled();
  expect(release.error?.message).toBe('no node has said whether it was released');
  await attempt(claim());
  expect(asked()).toEqual([1, 1, 1]);
  await lock.close();
});

test('a release of what is not known is one of nothing, and asks nobody', async () => {
  const { lock, released } = scripted();
  expect(await lock.release(claim())).toEqual({ freed: false });
  expect(released()).toEqual([0, 0, 0]);
});

test('a hold that expired by itself is forgotten once a minute, when no node can have it any more', async () => {
  const { clock, nodes, lock, attempt, say, released, held, settled } = scripted();
  const renewed = async (ttl: number) => {
    const mine = await held({ ttl, key: `for ${ttl}` });
    void lock.renew([mine]);
    for (const { renewals } of nodes) renewals.at(-1)!.answer([{ validFor: ttl }]);
    await settled();
    return mine;
  };
  const forgotten = async (mine: { key: string; id: string }): Promise<boolean> => {
    const before = released()[0]!;
    void lock.release(mine).catch(() => {});
    await settled();
    return released()[0] === before;
  };
  const short = await renewed(1_000);
  const another = await renewed(1_000);
  const minute = await renewed(59_000); // and as long as a node may take for it, twice
  const longer = await renewed(59_001);
  const never = await held({ key: 'never renewed' });
  await clock.advance(59_999);
  await attempt(claim({ key: 'before' }));
  expect(await forgotten(short), 'before a minute is over').toBe(false);
  await clock.advance(1);
  await attempt(claim({ key: 'after' }));
  await say(NO, NO, NO);
  expect(await forgotten(another), 'when it is').toBe(true);
  expect(await forgotten(minute), 'and the other just expired').toBe(true);
  expect(await forgotten(longer), 'or expires in a moment').toBe(false);
  expect(await forgotten(never), 'or has to be given back').toBe(false);
  await lock.close();
});

test('an attempt again of a hold renews it, for no shorter than it was renewed to', async () => {
  const { nodes, lock, held, settled } = scripted();
  const mine = await held({ ttl: 3_000 }, 7n);
  void lock.renew([{ ...mine, ttl: 60_000 }]);
  for (const { renewals } of nodes) renewals[0]!.answer([{ validFor: 60_000 }]);
  await settled();
  const again = outcomeOf(lock.attempt(mine));
  await settled();
  expect(nodes.map(({ renewals }) => renewals[1]?.question[0]?.ttl)).toEqual([60_000, 60_000, 60_000]);
  for (const { renewals } of nodes) renewals[1]!.answer([{ validFor: 50_000 }]);
  await settled();
  expect(again.value).toMatchObject({ granted: true, token: 7n, validFor: 50_000 });
});

test('an attempt again of a hold that is gone gives back what is left of it, and is one', async () => {
  const { nodes, lock, held, asked, released, settled } = scripted();
  const mine = await held({}, 7n);
  const first = nodes[0].attempts[0]!.question.id;
  const again = outcomeOf(lock.attempt(mine));
  await settled();
  for (const { renewals } of nodes) renewals[0]!.answer(['gone']);
  await settled();
  expect([asked(), released()]).toEqual([
    [2, 2, 2],
    [1, 1, 1],
  ]);
  expect(nodes[0].attempts[1]!.question.id, 'an id that was released is never used again').not.toBe(first);
  for (const { attempts } of nodes) attempts[1]!.answer(yes(9n));
  await settled();
  expect(again.value).toMatchObject({ granted: true, token: 9n });
});

test('an attempt again of a hold that nobody knows of is not answered', async () => {
  const { nodes, lock, held, asked, settled } = scripted();
  const mine = await held({}, 7n);
  const again = outcomeOf(lock.attempt(mine));
  await settled();
  for (const { renewals } of nodes) renewals[0]!.fail(new Error('reset'));
  await settled();
  expect(again.error?.message).toBe('too few nodes answered to say whether the hold is still there');
  expect(asked()).toEqual([1, 1, 1]);
});

test('an attempt again while the first is asked is answered as that is, when it is refused', async () => {
  const { lock, say, asked, attempt, settled } = scripted();
  const mine = claim();
  await attempt(mine);
  const again = outcomeOf(lock.attempt(mine));
  await settled();
  expect(asked()).toEqual([1, 1, 1]);
  await say(NO, NO);
  expect(again.value).toEqual({ granted: false });
});

test('closing tells whoever waits, ends each node, and waits for that', async () => {
  let closed = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const { clock, nodes, lock, held, attempt, released, settled } = scripted(
    3,
    {},
    {
      close: async () => {
        closed++;
        if (closed === 1) throw new Error('it is down');
        await promise;
      },
    },
  );
  const mine = await held();
  const release = outcomeOf(lock.release(mine));
  await settled();
  for (const { releases } of nodes) releases[0]!.fail(new Error('reset'));
  const waiting = await attempt(claim({ key: 'other' }));
  const closing = outcomeOf(lock.close());
  await settled();
  expect([closed, 'value' in closing]).toEqual([3, false]);
  resolve();
  await settled();
  expect(closing).toEqual({ value: undefined });
  expect(waiting.error?.message).toMatch(/no answer within 500 ms/);
  expect(release.error).toBeDefined();
  await clock.advance(60_000);
  expect(released(), 'no release is tried again, but the one of closing').toEqual([2, 2, 2]);
});

test('a node that is asked too late to raise the token of its vote is asked to give that vote back with the hold', async () => {
  const { lock, attempt, say, released } = scripted();
  const mine = claim();
  const outcome = await attempt(mine);
  await say(yes(5n), yes(6n), yes(7n));
  await say(undefined, yes(7n));
  expect(outcome.value).toMatchObject({ granted: true, token: 7n });
  await say({ granted: false, late: true });
  void lock.release(mine).catch(() => {});
  expect(released(), 'the first node may keep the vote from before').toEqual([1, 1, 1]);
  await lock.close();
});

test.each<[string, (scene: ReturnType<typeof scripted>) => unknown]>([
  ['fails', ({ nodes }) => nodes[0].attempts[0]!.fail(new Error('reset'))],
  ['gets no answer in time', ({ clock }) => clock.advance(500)],
])('an attempt that %s after its release was answered is released once more, since it may have come after that', async (_, end) => {
  const scene = scripted();
  const { nodes, lock, attempt, say, released, settled } = scene;
  await attempt(claim());
  await say(undefined, NO, NO);
  nodes[0].releases[0]!.answer({ freed: false });
  await settled();
  expect(released()).toEqual([1, 0, 0]);
  await end(scene);
  await settled();
  expect(released(), 'when the outcome is unknown').toEqual([2, 0, 0]);
  await lock.close();
});
