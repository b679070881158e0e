import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';
import { createLocks } from '../../../src/index.ts';
import { claim, holders, told } from './nodes.ts';

test('a claim that is given back while it is asked for again leaves nothing', async () => {
  const nodes = [memory(), memory(), memory()];
  const lock = quorum(nodes);
  const forgotten = claim();
  await lock.attempt(forgotten);
  for (const node of nodes) for await (const { key, token } of node.inspect!('')) await node.evict!(key, token);
  const again = lock.attempt(forgotten);
  await lock.release(forgotten);
  await expect(again).rejects.toThrow('was released');
  expect(await Promise.all(nodes.map((node) => holders(node)))).toEqual([0, 0, 0]);
});

test('a node that throws at a renewal instead of rejecting is one that did not answer', async () => {
  const throwing = memory();
  const lock = quorum([memory(), memory(), throwing]);
  const held = claim();
  await lock.attempt(held);
  throwing.renew = () => {
    throw new Error('thrown at once');
  };
  expect(await lock.renew([held])).toEqual([{ validFor: 30_000 }]);
});

test('a minority of nodes that never answers costs no time, and a hold outlives the loss of its votes one by one', async () => {
  const nodes = [1, 2, 3, 4, 5].map(() => memory());
  const hung = [memory(), memory()].map((node) => told(node, () => new Promise(() => {})));
  const lock = quorum([...hung, ...nodes.slice(2)], { clock: manualClock(1) }); // which stands still
  expect((await lock.attempt(claim({ key: 'other' }))).granted).toBe(true);
  await lock.close();

  const whole = quorum(nodes);
  const held = claim();
  const { granted } = await whole.attempt(held);
  expect(granted).toBe(true);
  for (const node of nodes) {
    for await (const { key, token } of node.inspect!('k')) await node.evict!(key, token);
    expect(await whole.renew([held])).toEqual([{ validFor: 30_000 }]);
    await expect.poll(() => holders(node, 'k')).toBe(1);
  }
});

test('a hold is gone when a majority has lost it', async () => {
  const nodes = [memory(), memory(), memory()];
  const lock = quorum(nodes);
  const held = claim();
  await lock.attempt(held);
  for (const node of nodes.slice(1))
    for await (const { key, token } of node.inspect!('')) await node.evict!(key, token);
  expect(await lock.renew([held])).toEqual(['gone']);
});

test('a hold that was extended outlives the loss of its votes one by one', async () => {
  const clock = manualClock(1);
  const nodes = [1, 2, 3].map(() => memory({ clock }));
  const lock = quorum(nodes, { clock });
  const held = claim({ ttl: 3_000 });
  await lock.attempt(held);
  const extended = { ...held, ttl: 60_000 };
  for (const node of nodes) {
    expect(await lock.renew([extended])).toEqual([{ validFor: 60_000 }]);
    await clock.advance(20_000);
    for await (const { key, token } of node.inspect!('')) await node.evict!(key, token);
  }
  expect(await lock.renew([extended]), 'a vote that was asked for anew has the old, shorter lease').toEqual([
    { validFor: 60_000 },
  ]);
});

test('a renewal that a node has not answered may arrive after an extension: so long nobody believes in more', async () => {
  const clock = manualClock(1);
  const [slow, steady, away] = [memory({ clock }), memory({ clock }), memory({ clock })];
  const { promise: gate, resolve: arrive } = Promise.withResolvers<void>();
  const sound = slow.renew.bind(slow);
  const held = claim({ ttl: 600 });
  const lock = quorum([slow, steady, away], { clock });
  await lock.attempt(held);
  slow.renew = (claims) => gate.then(() => sound(claims));
  expect(await lock.renew([held]), 'the two others confirm it').toEqual([{ validFor: 600 }]);
  slow.renew = sound;
  away.renew = () => Promise.reject(new Error('connection refused'));
  const extended = { ...held, ttl: 60_000 };
  const [answer] = await lock.renew([extended]);
  arrive();
  await clock.advance(1);
  const left: number[] = [];
  for await (const { remaining } of slow.inspect!('k')) left.push(remaining);
  expect(left[0], 'at the node to which the old one came last').toBeLessThanOrEqual(600);
  expect(answer, 'what the extension was good for').toEqual({ validFor: 600 });
  expect(await lock.renew([extended]), 'once it was answered').toEqual([{ validFor: 60_000 }]);
});

test('a vote of an extended hold is given back as long as it may last', async () => {
  const clock = manualClock(1);
  const away = memory({ clock });
  const lock = quorum([memory({ clock }), memory({ clock }), away], { clock });
  const held = claim({ ttl: 3_000 });
  await lock.attempt(held);
  await lock.renew([{ ...held, ttl: 60_000 }]);
  const { release } = away;
  away.release = () => Promise.reject(new Error('connection refused'));
  await lock.release(held);
  await clock.advance(20_000);
  away.release = release;
  await clock.advance(5_000);
  expect(await holders(away)).toBe(0);
});

test('nothing of a hold that was given back listens to a session that lasts', async () => {
  const session = new AbortController();
  const carried = told(memory(), async (asked) => ({ ...(await asked), lost: session.signal }));
  const lock = quorum([carried, memory(), memory()]);
  for (let turn = 0; turn < 3; turn++) {
    const held = claim();
    expect((await lock.attempt(held)).granted).toBe(true);
    await lock.release(held);
  }
  expect(getEventListeners(session.signal, 'abort')).toHaveLength(0);
});

test('a hold that is left to its minHold is forgotten when that is over', async () => {
  const clock = manualClock(1);
  const backend = quorum(
    [1, 2, 3].map(() => memory({ clock })),
    { clock },
  );
  const locks = createLocks(backend, { clock });
  const kept: WeakRef<Claim>[] = [];
  const { renew } = backend;
  backend.renew = (claims) => {
    kept.push(...claims.map((each) => new WeakRef(each)));
    return renew.call(backend, claims);
  };
  while (kept.length < 10) await locks.mutex(`job ${kept.length}`).run(() => {}, { minHold: '20s' });
  await clock.advance(120_000);
  await locks.mutex('another').run(() => {});
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  expect(kept.filter((claim) => claim.deref()).length, 'of 10').toBeLessThan(3);
  await locks.close();
});

test('a hold that has expired is freed where a session still carries it, though its process stood still for long', async () => {
  const clock = manualClock(1);
  const session = memory({ clock: manualClock(1) }); // its holds do not expire
  const lock = quorum([memory({ clock }), memory({ clock }), session], { clock });
  const held = claim({ ttl: 3_000 });
  await lock.attempt(held);
  await lock.renew([held]);
  await clock.advance(120_000);
  await lock.attempt(claim({ key: 'another' }));
  await lock.release(held);
  await clock.advance(1);
  expect(await holders(session, held.key), 'holds of the session').toBe(0);
});
