import { describe, expect, test } from 'vitest';
import { EXCLUSIVE } from '../../src/core/contract/admission.ts';
import type { QueueEntry } from '../../src/core/contract/backend.ts';
import { queuesOf } from '../../src/waits/claims.ts';
import { CONFIRM_MS, Suspects } from '../../src/waits/suspects.ts';

/** When the leases of two processes expire, ms. */
type Expires = Readonly<Record<'p' | 'q', number>>;

/** Two processes hold a mutex each, and each waits for the other's. */
function ring(at: number, expires: Expires): QueueEntry[] {
  const claim = (process: 'p' | 'q', number: number, key: string, position: number): QueueEntry => ({
    ...EXCLUSIVE,
    key,
    held: position === 0,
    position,
    token: BigInt(position + 1),
    label: process,
    remaining: expires[process] - at,
    origin: { process, claim: number, inside: position === 0 ? [] : [{ claim: 1 }], cut: false },
  });
  return [claim('p', 1, 'a', 0), claim('q', 2, 'a', 1), claim('q', 1, 'b', 0), claim('p', 2, 'b', 1)];
}

/** How many deadlocks each of these looks confirms. */
function confirmed(looks: readonly (readonly [at: number, expires: Expires])[]): number[] {
  const suspects = new Suspects();
  return looks.map(
    ([at, expires]) => suspects.look(queuesOf(ring(at, expires)), () => ({ began: at, ended: at })).length,
  );
}

describe('a deadlock is confirmed by signs of life of each process in it', () => {
  const first: Expires = { p: 10_000, q: 10_000 };

  test('of two processes that renew, as soon as both have', () => {
    const looks = [
      [0, first],
      [CONFIRM_MS, first],
      [2 * CONFIRM_MS, { ...first, p: 12_000 }],
      [3 * CONFIRM_MS, { p: 12_000, q: 12_000 }],
    ] as const;
    expect(confirmed(looks)).toEqual([0, 0, 0, 1]);
  });

  test('a renewal that was on its way at the first look proves nothing: the process may have died since it sent it', () => {
    const arrived: Expires = { ...first, q: 12_000 };
    const alive = [1, 2, 3, 4].map((i) => [i * CONFIRM_MS, { ...arrived, p: 10_000 + i * 2_000 }] as const);
    expect(confirmed([[0, first], ...alive])).toEqual([0, 0, 0, 0, 0]);
  });

  test('a lease that is told up to a second later than before was not renewed: etcd tells whole seconds', () => {
    const looks = [0, 1, 2, 3].map((i) => [i * CONFIRM_MS, { p: 10_000 + i * 2_000, q: 10_000 + i * 300 }] as const);
    expect(confirmed(looks)).toEqual([0, 0, 0, 0]);
  });

  test('a claim that is over, and is in the queue until the server removes it, was not renewed', () => {
    const looks = [0, 1, 2, 3].map((i) => [i * 1_000, { p: 500 + i * 2_000, q: Math.max(500, i * 1_000) }] as const);
    expect(confirmed(looks)).toEqual([0, 0, 0, 0]);
  });
});
