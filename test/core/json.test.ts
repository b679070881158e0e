import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { channels } from '../../src/core/contract/events.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { leaderChannels } from '../../src/leading/events.ts';
import { until } from '../kit/wait.ts';

const engine = memory();
const locks = createLocks(engine);
const others = createLocks(engine);
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
async function held(of: Locks, key: string) {
  const lease = await of.mutex(key).acquire();
  ends.push(() => lease.release());
  return lease;
}

test('a listing', async () => {
  const { token } = await held(locks, 'listed');
  for await (const standing of locks.inspect('listed')) {
    expect(json(standing)).toMatchObject({ key: 'listed', held: true, token: `${token}` });
    expect(standing.token, 'in the program it stays a number').toBe(token);
    expect(inspect(standing), 'for people it looks as before').toMatch(/^\{\s+key: 'listed'/);
  }
});

test('who waits for whom, and deadlocks', async () => {
  const stop = new AbortController();
  const cross = (of: Locks, mine: string, theirs: string) =>
    of.mutex(mine).run(async () => {
      await both;
      await of.mutex(theirs).run(() => {}, { signal: stop.signal });
    });
  const { promise: both, resolve } = Promise.withResolvers<void>();
  const ring = [cross(locks, 'waits:a', 'waits:b'), cross(others, 'waits:b', 'waits:a')].map((each) =>
    each.catch(() => {}),
  );
  ends.push(
    () => Promise.all(ring),
    () => stop.abort(),
  );
  await until('both hold', async () => (await locks.mutex('waits:a').tryAcquire()) === null);
  resolve();
  await until('a deadlock is seen', async () => {
    const waits = await locks.waits('waits:');
    return waits.deadlocks.length === 1 && json(waits) !== undefined;
  });
  const waits = await locks.waits('waits:');
  const { claims, deadlocks } = json(waits) as typeof waits;
  expect(claims.map(({ token }) => token)).toEqual(waits.claims.map(({ token }) => `${token}`));
  expect(deadlocks).toEqual(waits.deadlocks);
});

test('who leads, its term, and its events', async () => {
  const heard: unknown[] = [];
  const note = (event: unknown): void => void heard.push(json(event));
  const told = [...Object.values(channels), ...Object.values(leaderChannels)].map(({ name }) => name);
  for (const name of told) subscribe(name, note);
  ends.push(() => told.forEach((name) => void unsubscribe(name, note)));
  const stop = new AbortController();
  const leader = locks.leader('led');
  const running = leader.run(
    async (term) => {
      expect(json(term)).toMatchObject({ name: 'led', token: `${term.token}`, held: true });
      const incumbent = await leader.current();
      expect(json(incumbent)).toMatchObject({ token: `${term.token}` });
      for await (const seen of leader.observe()) {
        expect(json(seen)).toMatchObject({ token: `${term.token}` });
        break;
      }
      stop.abort();
    },
    { signal: stop.signal },
  );
  await running;
  expect(heard).toContainEqual(expect.objectContaining({ name: 'led', token: expect.stringMatching(/^\d+$/) }));
  expect(heard).toContainEqual(expect.objectContaining({ key: 'led', token: expect.stringMatching(/^\d+$/) }));
});

test('a tick', async () => {
  const due = new Date();
  await locks.once('tick', due, (run) => {
    expect(json(run)).toMatchObject({ name: 'tick', tick: due.toISOString(), token: `${run.token}`, held: true });
  });
});
