import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { stepUntilEnd } from '../../../products/testing/limited.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { SHARED } from '../../../src/core/contract/admission.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { claim, told } from './nodes.ts';

/** Two processes over three nodes; one has the key, and the other has waited for so long, ms. */
async function scene(waits: number) {
  const clock = manualClock();
  const nodes = [1, 2, 3].map(() => memory({ clock }));
  const [here, there] = [quorum(nodes, { clock }), quorum(nodes, { clock })];
  const during = <T>(work: Promise<T>): Promise<T> => stepUntilEnd(work, () => clock.advance(1));
  const [before, held] = [claim(), claim()];
  await during(here.attempt(before));
  await during(here.release(before));
  await during(here.attempt(held)); // at once: it is busy
  for (const since = clock.now(); clock.now() - since < waits; await clock.advance(5))
    await during(there.attempt(claim()));
  const again = async (): Promise<boolean> => (await during(here.attempt(claim()))).granted;
  return { clock, here, there, held, during, again };
}

test('who has waited for long goes first: the process that gives the key back does not get it again before', async () => {
  const { here, there, held, during, again } = await scene(100);
  await during(here.release(held));
  expect(await again(), 'the process that had it').toBe(false);
  const next = claim();
  expect((await during(there.attempt(next))).granted, 'the one that waited').toBe(true);
  await during(there.release(next));
});

test('who is next and does not ask any more holds nobody up for longer than half a second', async () => {
  const { clock, here, held, during, again } = await scene(100);
  await during(here.release(held));
  expect(await again()).toBe(false);
  await clock.advance(500);
  expect(await again()).toBe(true);
});

test('a process that was next for long and asks no more delays the others by some seconds at most', async () => {
  const clock = manualClock();
  const nodes = [1, 2, 3].map(() => memory({ clock }));
  const during = <T>(work: Promise<T>): Promise<T> => stepUntilEnd(work, () => clock.advance(1));
  const [here, first, second] = [1, 2, 3].map(() => quorum(nodes, { clock, maxTtl: '1h' })) as [
    Backend,
    Backend,
    Backend,
  ];
  const held = claim({ ttl: 3_600_000 });
  await during(here.attempt(held));
  while (clock.now() < 1_200_000)
    for (const waiter of [first, second]) {
      await during(waiter.attempt(claim()));
      await clock.advance(200);
    }
  await during(here.release(held));
  const freed = clock.now();
  while (!(await during(second.attempt(claim()))).granted && clock.now() < freed + 100_000) await clock.advance(200);
  expect(clock.now() - freed).toBeLessThan(8_000);
});

test.each([
  25, 300, 2_000,
])('a try that was refused leaves the next one, %i ms later, nothing to wait for', async (later) => {
  const { clock, here, there, held, during } = await scene(0);
  expect((await during(there.attempt(claim()))).granted, 'while it is taken').toBe(false);
  await during(here.release(held));
  await clock.advance(later);
  expect((await during(there.attempt(claim()))).granted, 'when it is free').toBe(true);
});

test('of processes that began to wait together one asks, and the others only read that it is next', async () => {
  const clock = manualClock();
  const nodes = [1, 2, 3].map(() => memory({ clock }));
  const asked = [0, 0, 0, 0];
  const counted = (process: number) =>
    quorum(
      nodes.map((node) =>
        told(node, (vote) => {
          asked[process]!++;
          return vote;
        }),
      ),
      { clock },
    );
  const held = quorum(nodes, { clock }).attempt(claim({ ttl: 120_000 }));
  for (let i = 0; i < 500; i++) await clock.advance(1);
  expect((await held).granted).toBe(true);
  let over = false;
  const wait = async (process: number): Promise<void> => {
    const waiter = counted(process);
    await new Promise<void>((resume) => clock.after(10 * process, resume));
    while (!over) {
      const answer = await waiter.attempt(claim());
      const pause = answer.granted ? 1 : answer.retryAfter!;
      await new Promise<void>((resume) => clock.after(pause, resume));
    }
  };
  const waits = asked.map((_, process) => wait(process));
  for (let i = 0; i < 20_000; i++) await clock.advance(1);
  asked.fill(0);
  for (let i = 0; i < 10_000; i++) await clock.advance(1);
  expect(
    asked.filter((count) => count > 0),
    'votes that each process asked for',
  ).toHaveLength(1);
  over = true;
  for (let i = 0; i < 2_000; i++) await clock.advance(1);
  await Promise.all(waits);
});

test('a hold that is given back leaves another claim of its process next: a writer that waits for readers', async () => {
  const clock = Object.assign(manualClock(), { random: () => 0.5 });
  const nodes = [1, 2, 3].map(() => memory({ clock }));
  const [here, there] = [quorum(nodes, { clock }), quorum(nodes, { clock })];
  const during = <T>(work: Promise<T>): Promise<T> => stepUntilEnd(work, () => clock.advance(1));
  const [reader, other] = [claim(SHARED), claim({ ...SHARED, ttl: 60_000 })];
  for (const [process, own] of [
    [here, reader],
    [there, other],
  ] as const)
    expect((await during(process.attempt(own))).granted).toBe(true);
  const since = clock.now();
  const pause = async (): Promise<number> => {
    const answer = await during(here.attempt(claim()));
    return answer.granted ? Number.NaN : Math.round((1_000 * answer.retryAfter!) / (clock.now() - since));
  };
  for (; clock.now() < since + 900; await clock.advance(20)) await pause();
  expect(await pause(), 'in thousandths of its wait').toBe(25);
  await during(here.release(reader));
  expect(await pause(), 'as long as before').toBe(25);
});

/** Processes over five nodes that wait for a key in steps of a clock; `requests` counts all that the nodes were asked. */
async function longWait(processes: number) {
  const clock = manualClock();
  const count = { votes: 0, requests: 0 };
  const counting = (): Backend => {
    const node = memory({ clock });
    const { hints } = node;
    return around(node, {
      attempt: (asked) => {
        count.votes++;
        count.requests++;
        return node.attempt(asked);
      },
      hints: {
        read: (name) => {
          count.requests++;
          return hints!.read(name);
        },
        write: (...note) => {
          count.requests++;
          return hints!.write(...note);
        },
      },
    });
  };
  const nodes = Array.from({ length: 5 }, counting);
  const during = <T>(work: Promise<T>): Promise<T> => stepUntilEnd(work, () => clock.advance(1));
  const [holder, ...waiters] = Array.from({ length: processes + 1 }, () => quorum(nodes, { clock, maxTtl: '1h' }));
  const held = claim({ ttl: 3_600_000 });
  expect((await during(holder!.attempt(held))).granted).toBe(true);
  const ends: number[] = [];
  const wait = async (waiter: Backend): Promise<void> => {
    for (;;) {
      const answer = await waiter.attempt(claim());
      if (answer.granted) break;
      await new Promise<void>((resume) => clock.after(answer.retryAfter!, resume));
    }
    ends.push(clock.now());
  };
  void Promise.all(waiters.map(wait));
  const pass = async (ms: number): Promise<void> => {
    for (const until = clock.now() + ms; clock.now() < until; ) await clock.advance(1);
  };
  return { clock, count, ends, pass, nodes, during, release: () => during(holder!.release(held)) };
}

test('five processes that have waited for minutes ask five nodes for no more than ten things a second, all together', async () => {
  const { count, pass } = await longWait(5);
  await pass(120_000);
  count.requests = 0;
  await pass(10_000);
  expect(count.requests / 10).toBeLessThanOrEqual(10);
});

test('a process that has waited for long asks two nodes, and all of them once the key is free, and has it within a second', async () => {
  const { clock, count, ends, pass, release } = await longWait(1);
  await pass(60_000);
  count.votes = 0;
  await pass(10_000);
  expect(count.votes, 'more often than once a second').toBeGreaterThan(20);
  expect(count.votes, 'at two nodes').toBeLessThan(2 * 30);
  await release();
  const freed = clock.now();
  count.votes = 0;
  await pass(1_000);
  expect(ends).toHaveLength(1);
  expect(ends[0]! - freed).toBeLessThan(800);
  expect(count.votes, 'at every node').toBeGreaterThanOrEqual(5);
});

test('a process that has waited for long gets a key that is free at a majority, whatever the others say', async () => {
  const { ends, nodes, during, pass, release } = await longWait(1);
  await pass(60_000);
  for (const node of nodes.slice(0, 2)) void node.attempt(claim({ queue: true, ttl: 3_600_000 }));
  await release();
  await pass(5_000);
  expect(ends).toHaveLength(1);
  for (const node of nodes) await during(node.close());
});
