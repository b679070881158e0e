import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ALL_UNITS, admitted, type Demand, EXCLUSIVE, SHARED } from '../../src/core/contract/admission.ts';
import type { QueueEntry } from '../../src/core/contract/backend.ts';
import { type ClaimQueues, queuesOf } from '../../src/waits/claims.ts';
import { deadlocksIn, stuckAmong } from '../../src/waits/deadlocks.ts';
import { edgesAmong } from '../../src/waits/edges.ts';

interface Claim extends Demand {
  readonly task: number;
  readonly number: number;
  readonly key: string;
  /** What its task held when it asked. */
  readonly inside: readonly number[];
}

/** Tasks of one process over queues under the one rule, as slow and as plain as can be. */
class World {
  readonly queues = new Map<string, Claim[]>();
  #last = 0;

  get claims(): Claim[] {
    return [...this.queues.values()].flat();
  }

  holds({ key, number }: Claim): boolean {
    const queue = this.queues.get(key)!;
    return queue.slice(0, admitted(queue)).some((claim) => claim.number === number);
  }

  waiting(task: number): boolean {
    return this.claims.some((claim) => claim.task === task && !this.holds(claim));
  }

  ask(task: number, key: string, demand: Demand): void {
    const inside = this.claims.filter((claim) => claim.task === task).map(({ number }) => number);
    const claim = { task, key, number: ++this.#last, inside: inside.reverse(), ...demand };
    this.queues.set(key, [...(this.queues.get(key) ?? []), claim]);
  }

  leave({ key, number }: Claim): void {
    this.queues.set(
      key,
      this.queues.get(key)!.filter((claim) => claim.number !== number),
    );
  }

  /** Holders inside of which nobody waits leave, in the order that `pick` says, until none can. */
  runOut(pick: (choices: number) => number): void {
    for (;;) {
      const waiting = this.claims.filter((claim) => !this.holds(claim));
      const able = this.claims.filter(
        (claim) => this.holds(claim) && !waiting.some(({ inside }) => inside.includes(claim.number)),
      );
      if (able.length === 0) return;
      this.leave(able[pick(able.length)]!);
    }
  }

  copy(): World {
    const copy = new World();
    for (const [key, queue] of this.queues) copy.queues.set(key, queue);
    return copy;
  }

  listed(detects: (number: number) => number | undefined = () => undefined): ClaimQueues {
    const entries = [...this.queues].flatMap(([key, queue]) =>
      queue.map((claim, position): QueueEntry => {
        const { units, capacity, number, inside } = claim;
        const asked = detects(number);
        const origin = {
          process: 'process0',
          claim: number,
          inside: inside.map((claim) => ({ claim })),
          cut: false,
          ...(asked !== undefined && { detects: asked }),
        };
        const token = BigInt(number);
        return {
          key,
          held: this.holds(claim),
          position,
          token,
          units,
          capacity,
          label: `task ${claim.task}`,
          origin,
          remaining: 9,
        };
      }),
    );
    return queuesOf(entries);
  }
}

const demand = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Demand>(EXCLUSIVE) },
  fc.constant<Demand>(SHARED),
  fc.record({ units: fc.integer({ min: 1, max: 2 }), capacity: fc.constant(2) }),
  fc.record({ units: fc.integer({ min: 1, max: 3 }), capacity: fc.constant(3) }),
);
const step = fc.record({
  task: fc.integer({ min: 0, max: 5 }),
  key: fc.integer({ min: 0, max: 3 }),
  demand,
  leaves: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** @param ordered each task asks for keys in one order only */
function played(steps: readonly Step[], ordered = false): World {
  const world = new World();
  for (const { task, key, demand, leaves } of steps) {
    if (world.waiting(task)) continue;
    const own = world.claims.filter((claim) => claim.task === task).sort((a, b) => a.number - b.number);
    if (leaves && own.length > 0) world.leave(own.at(-1)!);
    else if (!ordered || own.every((claim) => claim.key < `key ${key}`)) world.ask(task, `key ${key}`, demand);
  }
  return world;
}

const all = ({ claims }: ClaimQueues): Set<string> => new Set(claims.keys());
const numbers = (ids: Iterable<string>): number[] =>
  [...ids].map((id) => Number(id.split('.')[1])).sort((a, b) => a - b);
const steps = fc.array(step, { minLength: 4, maxLength: 40 });
const RUNS = { numRuns: 3_000 };

describe('who waits for whom', () => {
  test('stuck is who stays when everybody goes on who can, in whatever order', () => {
    fc.assert(
      fc.property(steps, fc.infiniteStream(fc.nat()), (steps, choices) => {
        const world = played(steps);
        const queues = world.listed();
        const end = world.copy();
        end.runOut((among) => (choices.next().value as number) % among);
        const waitedFor = new Set([...queues.claims.values()].map(({ key }) => key));
        const left = end.claims.filter(({ key }) => waitedFor.has(key)).map(({ number }) => number);
        expect(numbers(stuckAmong(queues, all(queues)))).toEqual(left.sort((a, b) => a - b));
      }),
      RUNS,
    );
  });

  test('each deadlock stands still by itself, and there is none but these', () => {
    let seen = 0;
    fc.assert(
      fc.property(steps, (steps) => {
        const world = played(steps);
        const queues = world.listed();
        const found = deadlocksIn(queues);
        seen += found.length;
        for (const { claims, cycle } of found) {
          const alone = world.copy();
          const own = numbers(claims);
          for (const claim of alone.claims) if (!own.includes(claim.number)) alone.leave(claim);
          alone.runOut(() => 0);
          expect(
            alone.claims.map(({ number }) => number).sort((a, b) => a - b),
            'stuck with all others gone',
          ).toEqual(own);
          expect(queues.claims.get(cycle[0]!)!.held, 'the way round begins with a wait').toBe(false);
          const edges = edgesAmong(queues, new Set(claims));
          for (const [i, from] of cycle.entries()) {
            const to = cycle[(i + 1) % cycle.length];
            expect(
              edges.some((edge) => edge.from === from && edge.to === to),
              `${from} waits for ${to}`,
            ).toBe(true);
          }
        }
        const freed = world.copy();
        const gaveUp = numbers(found.flatMap(({ claims }) => claims));
        for (const claim of world.claims) if (gaveUp.includes(claim.number) && !world.holds(claim)) freed.leave(claim);
        freed.runOut(() => 0);
        expect(freed.claims, 'left when all who wait in a deadlock give up').toEqual([]);
      }),
      RUNS,
    );
    expect(seen, 'deadlocks that were made').toBeGreaterThan(200);
  });

  test('tasks that take keys in one order are never in a deadlock', () => {
    fc.assert(
      fc.property(steps, (steps) => {
        expect(deadlocksIn(played(steps, true).listed())).toEqual([]);
      }),
      RUNS,
    );
  });

  test('when the victims give up, one after the other, everybody goes on in the end', () => {
    fc.assert(
      fc.property(steps, (steps) => {
        const world = played(steps);
        for (;;) {
          const found = deadlocksIn(world.listed((number) => number % 3));
          if (found.length === 0) break;
          for (const { victim, claims } of found) {
            const latest = Math.max(
              ...numbers(claims)
                .filter((n) => !world.holds(world.claims.find((c) => c.number === n)!))
                .map((n) => n % 3),
            );
            expect(Number(victim!.split('.')[1]) % 3, 'the one that asked last').toBe(latest);
            world.leave(world.claims.find(({ number }) => number === numbers([victim!])[0])!);
          }
        }
        world.runOut(() => 0);
        expect(world.claims).toEqual([]);
      }),
      RUNS,
    );
  });
});

/** Asks in this order: task, key, units. */
function scene(...asks: readonly [task: number, key: string, demand?: Demand][]): World {
  const world = new World();
  for (const [task, key, demand = EXCLUSIVE] of asks) world.ask(task, key, demand);
  return world;
}
const permit = (units: number, capacity: number): Demand => ({ units, capacity });

test.each<[string, World, number]>([
  ['two that want what the other has', scene([1, 'a'], [2, 'b'], [1, 'b'], [2, 'a']), 1],
  ['three in a ring', scene([1, 'a'], [2, 'b'], [3, 'c'], [1, 'b'], [2, 'c'], [3, 'a']), 1],
  ['two readers that want to write', scene([1, 'a', SHARED], [2, 'a', SHARED], [1, 'a'], [2, 'a']), 1],
  ['two rings apart', scene([1, 'a'], [2, 'b'], [1, 'b'], [2, 'a'], [3, 'c'], [4, 'd'], [3, 'd'], [4, 'c']), 2],
  [
    'a wait for one of two permits, the other one of which comes back',
    scene([1, 's', permit(1, 2)], [3, 's', permit(1, 2)], [2, 'b'], [1, 'b'], [2, 's', permit(1, 2)]),
    0,
  ],
  [
    'a wait for both of two permits',
    scene([1, 's', permit(1, 2)], [3, 's', permit(1, 2)], [2, 'b'], [1, 'b'], [2, 's', permit(2, 2)]),
    1,
  ],
  [
    'a reader behind a writer that waits for a reader',
    scene([1, 'a', SHARED], [2, 'b'], [3, 'a'], [2, 'a', SHARED], [1, 'b']),
    1,
  ],
  ['a queue in which all stand behind one that works', scene([1, 'a'], [2, 'a'], [3, 'a'], [4, 'b'], [4, 'a']), 0],
])('%s: deadlocks %#', (_, world, count) => {
  expect(deadlocksIn(world.listed())).toHaveLength(count);
});

test('who stands behind a deadlock is not part of it', () => {
  const world = scene([1, 'a'], [2, 'b'], [1, 'b'], [2, 'a'], [3, 'c'], [3, 'a'], [4, 'c']);
  expect(deadlocksIn(world.listed()).map(({ claims }) => numbers(claims))).toEqual([[1, 2, 3, 4]]);
});

test('a queue of 20,000 and a ring of 2,000 are judged in a moment', () => {
  const ring = Array.from({ length: 2_000 }, (_, i) => i);
  const claim = (number: number, key: string, position: number, inside: readonly number[]): QueueEntry => ({
    ...{ key, held: position === 0, position, token: BigInt(number), ...EXCLUSIVE, label: '', remaining: 9 },
    origin: { process: 'process0', claim: number, inside: inside.map((claim) => ({ claim })), cut: false },
  });
  const entries = [
    ...ring.flatMap((i) => [claim(i, `k${i}`, 0, []), claim(10_000 + i, `k${i}`, 1, [(i + 1) % ring.length])]),
    ...Array.from({ length: 20_000 }, (_, i) => claim(100_000 + i, 'long', i, [])),
  ];
  const began = performance.now();
  const found = deadlocksIn(queuesOf(entries));
  expect(found.map(({ claims }) => claims.length)).toEqual([4_000]);
  expect(performance.now() - began, 'ms').toBeLessThan(3_000);
  expect(ALL_UNITS).toBe(EXCLUSIVE.units);
});
