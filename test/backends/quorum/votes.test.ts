import { describe, expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { majorityOf } from '../../../src/backends/quorum/tally.ts';
import { SHARED } from '../../../src/core/contract/admission.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { createLocks } from '../../../src/index.ts';
import { claim, holders, restarting, told, unhandledIn } from './nodes.ts';

describe.each([2, 3, 4, 5])('of %i nodes', (count) => {
  test('every set of nodes that another caller holds settles, and a minority is given back', async () => {
    for (let mask = 0; mask < 2 ** count; mask++) {
      const nodes = Array.from({ length: count }, () => memory());
      for (const [i, node] of nodes.entries()) if (mask & (1 << i)) await node.attempt(claim());
      const taken = [...nodes.keys()].filter((i) => mask & (1 << i)).length;
      const lock = quorum(nodes);
      const { granted } = await lock.attempt(claim());
      expect(granted, `with ${taken} of ${count} taken (mask ${mask})`).toBe(count - taken >= majorityOf(count));
      if (granted) continue;
      const left = await Promise.all(nodes.map((node) => holders(node)));
      expect(left, `after a refusal with mask ${mask}`).toEqual(nodes.map((_, i) => (mask & (1 << i) ? 1 : 0)));
    }
  });

  test('rivals who split the votes all get their turn', async () => {
    const nodes = Array.from({ length: count }, () => memory());
    const rivals = [1, 2, 3].map(() => createLocks(quorum(nodes)));
    let inside = 0;
    let last = 0n;
    const turns = rivals.flatMap((locks) =>
      Array.from({ length: 5 }, () =>
        locks.mutex('one').run(
          async ({ token }) => {
            expect(++inside).toBe(1);
            expect(token).toBeGreaterThan(last);
            last = token;
            await new Promise((resolve) => setTimeout(resolve, 1));
            inside--;
          },
          { wait: 20_000 },
        ),
      ),
    );
    await Promise.all(turns);
    for (const locks of rivals) await locks.close();
  });
});

test('readers share a quorum, and a writer is alone in it', async () => {
  const nodes = [memory(), memory(), memory()];
  const [one, two] = [quorum(nodes), quorum(nodes)];
  const reader = claim(SHARED);
  expect((await one.attempt(reader)).granted).toBe(true);
  expect((await two.attempt(claim(SHARED))).granted).toBe(true);
  expect((await two.attempt(claim())).granted).toBe(false);
});

test('a claim that is given back before the nodes are asked is never put to them', async () => {
  let asked = 0;
  const nodes = [1, 2, 3].map(() =>
    told(memory(), (attempt) => {
      asked++;
      return attempt;
    }),
  );
  const lock = quorum(nodes);
  const early = claim();
  const attempt = lock.attempt(early); // the nodes name themselves first
  expect(await lock.release(early)).toEqual({ freed: false });
  await expect(attempt).rejects.toThrow('released before it was answered');
  expect(asked, 'nodes asked').toBe(0);
});

test('permits are refused, with the reason', () => {
  const locks = createLocks(quorum([memory(), memory(), memory()]));
  expect(() => locks.semaphore('s', { permits: 3 })).toThrow(/cannot count permits/);
});

test('what is no backend is refused with the reason', () => {
  for (const wrong of [{ evalsha: () => {} }, undefined, 'redis://localhost']) {
    expect(() => quorum([memory(), memory(), wrong as unknown as Backend])).toThrow(
      expect.objectContaining({ code: 'LOCK_INVALID' }),
    );
  }
});

test.each([
  ['answers nothing', { attempt: async () => undefined as never }],
  ['fails with an object that has no text', { attempt: () => Promise.reject(Object.create(null)) }],
  [
    'fails with an error without a message',
    { attempt: () => Promise.reject(Object.assign(new Error(), { message: undefined })) },
  ],
  [
    'throws instead of rejecting',
    {
      attempt: () => {
        throw new Error('at once');
      },
    },
  ],
  [
    'throws when it is asked its name',
    {
      incarnation: () => {
        throw new Error('nameless');
      },
    },
  ],
] as [string, Partial<Backend>][])('a node that %s is one vote less, and nobody waits for it', async (_, calls) => {
  const unhandled = await unhandledIn(async () => {
    const lock = quorum([memory(), memory(), around(memory(), calls)]);
    const held = claim();
    expect((await lock.attempt(held)).granted, 'a majority is left').toBe(true);
    expect(await lock.release(held)).toEqual({ freed: true });
    const two = quorum([memory(), around(memory(), calls), around(memory(), calls)]);
    await expect(two.attempt(claim()), 'a minority is left').rejects.toThrow(/node 2 \(memory\)/);
  });
  expect(unhandled).toEqual([]);
});

test('a vote that comes after the outcome is undone', async () => {
  const slow = memory();
  const taken = [memory(), memory()];
  for (const node of taken) await node.attempt(claim());
  let answer = (): void => {};
  const gate = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const late = told(slow, async (asked) => {
    const granted = await asked;
    await gate;
    return granted;
  });
  const lock = quorum([...taken, late]);
  expect((await lock.attempt(claim())).granted).toBe(false);
  answer();
  await expect.poll(() => holders(slow)).toBe(0);
});

test('a vote that comes after the node was given up is undone', async () => {
  const slow = memory();
  let answer = (): void => {};
  const gate = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const late = told(slow, async (asked) => {
    await gate; // as a message that is under way
    return asked;
  });
  const lock = quorum([late, told(memory(), () => new Promise(() => {})), memory()]);
  const asked = claim({ ttl: 400, within: 400 });
  await expect(lock.attempt(asked)).rejects.toThrow(/2 of 3 nodes cannot vote, and 2 votes are needed/);
  answer();
  await expect.poll(() => holders(slow)).toBe(0);
  await lock.close();
});

test('a vote that is raised after it was given back is undone', async () => {
  const [low, middle, high] = [memory(), memory(), memory()];
  for (const [node, last] of [
    [middle, 10n],
    [high, 20n],
  ] as const) {
    const before = claim({ minToken: last });
    await node.attempt(before);
    await node.release(before);
  }
  const { promise: gate, resolve: arrive } = Promise.withResolvers<void>();
  const overtaken = around(low, {
    async attempt(asked) {
      if (asked.minToken !== undefined) await gate; // over another connection than the release
      return low.attempt(asked);
    },
  });
  const lock = quorum([overtaken, middle, high]);
  const given = claim();
  const outcome = lock.attempt(given).catch((error) => error);
  await expect.poll(() => holders(low)).toBe(1);
  await lock.release(given);
  await outcome;
  arrive();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await holders(low), 'left on the node').toBe(0);
  await lock.close();
});

test('a majority that is slower than the lease is no grant, and leaves nothing', async () => {
  const nodes = [1, 2, 3].map(() => memory());
  const slow = nodes.map((node) =>
    told(node, async (asked) => {
      const granted = await asked;
      await new Promise((resolve) => setTimeout(resolve, 60));
      return granted;
    }),
  );
  const lock = quorum(slow);
  expect((await lock.attempt(claim({ ttl: 40 }))).granted).toBe(false);
  expect(await Promise.all(nodes.map((node) => holders(node)))).toEqual([0, 0, 0]);
});

test('drift shortens a lease', async () => {
  const grant = await quorum([memory(), memory()], { drift: 0.2 }).attempt(claim({ ttl: 10_000 }));
  if (!grant.granted) throw new Error('refused');
  expect(grant.validFor * 0.99).toBeCloseTo(8_000, -2);
});

test('a node that started anew does not count until the longest lease is over', async () => {
  const down = told(memory(), () => Promise.reject(new Error('connection refused')));
  for (const restartGuard of [true, false]) {
    const { node, restart } = restarting();
    const lock = quorum([node, memory(), down], { restartGuard, maxTtl: 1_500 });
    const first = claim({ ttl: 1_000 });
    expect((await lock.attempt(first)).granted).toBe(true);
    await lock.release(first);
    restart();
    const next = claim({ ttl: 1_000 });
    if (restartGuard) {
      await expect(lock.attempt(next)).rejects.toThrow(/node 1 \(memory\): restarted/);
      expect(await holders(node)).toBe(0);
      await expect
        .poll(() => lock.attempt(claim({ ttl: 1_000 })).catch(() => ({ granted: false })), { timeout: 20_000 })
        .toMatchObject({
          granted: true,
        });
    } else expect((await lock.attempt(next)).granted).toBe(true);
    await lock.close();
  }
});

test('of attempts that find a restarted node at the same moment, none counts it', async () => {
  const { node, restart } = restarting();
  const third = memory();
  const lock = quorum([node, memory(), third]);
  const holder = claim();
  expect((await lock.attempt(holder)).granted).toBe(true);
  for await (const { key, token } of third.inspect!('k')) await third.evict!(key, token); // two votes are left
  restart();
  const [, second] = await Promise.all([lock.attempt(claim({ key: 'other' })), lock.attempt(claim())]);
  expect(second.granted, 'granted to a second holder, with the vote that the node has forgotten').toBe(false);
  await lock.close();
});

test('two nodes that are the same server are refused at the first use', async () => {
  const twin = (): Backend => Object.assign(memory(), { incarnation: () => 'the same' });
  const lock = quorum([twin(), twin(), memory()]);
  await expect(lock.attempt(claim())).rejects.toMatchObject({ code: 'LOCK_INVALID' });
});

test('a vote does not count when its session has ended before the vote is read', async () => {
  const ended = told(memory(), async (asked) => ({ ...(await asked), lost: AbortSignal.abort() }));
  const away = told(memory(), () => Promise.reject(new Error('connection refused')));
  const asked = claim({ ttl: 1_000 });
  const { granted } = await quorum([memory(), ended, away])
    .attempt(asked)
    .catch(() => ({ granted: false }));
  expect(granted, 'by one node and by an ended session').toBe(false);
});

test('a reader of a quorum inside a quorum raises no token of other keys', async () => {
  const inner = () => quorum([memory(), memory()]);
  const lock = quorum([inner(), inner()]);
  expect(await lock.attempt(claim({ key: 'read', ...SHARED }))).toMatchObject({ granted: true });
  const next = await lock.attempt(claim());
  if (!next.granted) expect.fail('the other key is free');
  expect(next.token).toBeLessThan(1_000n);
});
