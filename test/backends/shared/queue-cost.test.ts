import { expect, test } from 'vitest';
import { EngineQueue } from '../../../src/backends/shared/queue.ts';
import { EngineTime, type StoredClaim, TokenCounter } from '../../../src/backends/shared/stored-queue.ts';
import { claim } from '../../core/claim.ts';

/** A queue of a hold and a thousand waiters, and how many claims a step asks for their time. */
function crowd() {
  let looks = 0;
  class Counted extends EngineTime {
    override remaining(claim: StoredClaim): number {
      looks++;
      return super.remaining(claim);
    }
  }
  const queue = new EngineQueue(new TokenCounter(0n));
  const looksOf = (now: number, act: (queue: EngineQueue) => unknown = () => {}): number => {
    looks = 0;
    act(queue.at(new Counted(now)));
    return looks;
  };
  looksOf(0, () => {
    queue.attempt(claim('holder', { ttl: 5_000 }));
    for (let waiter = 0; waiter < 1_000; waiter++) queue.attempt(claim(`${waiter}`, { ttl: 60_000, placeTtl: 60_000 }));
  });
  return { queue, looksOf };
}

test('in a long queue a renewal or a departure looks at no other claim, as long as none can have expired', () => {
  const { looksOf } = crowd();
  expect(looksOf(1, (queue) => queue.renew({ id: 'holder', ttl: 5_000 }))).toBe(0);
  expect(looksOf(4_999, (queue) => queue.release({ id: '17' }))).toBe(0);
});

test('a long queue is looked through once when a claim may have expired, and not again before the next one may', () => {
  const { queue, looksOf } = crowd();
  looksOf(1, () => queue.renew({ id: 'holder', ttl: 5_000 }));
  expect(looksOf(5_000), 'the old end of the hold').toBe(1_001);
  expect(looksOf(5_000)).toBe(0);
  expect(looksOf(5_001), 'its end').toBe(1_001);
  expect(queue.admitted.map(({ id }) => id)).toEqual(['0']);
  expect(looksOf(5_002)).toBe(0);
});
