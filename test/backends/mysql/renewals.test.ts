/** Renewals over a connection of our own that is silent for a while, in virtual time; the table is the queue of the memory engine. */
import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import type { PoolOfOne } from '../../../src/backends/mysql/pool.ts';
import type { Queues } from '../../../src/backends/mysql/queues.ts';
import { Renewals } from '../../../src/backends/mysql/upkeep.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';
import { createLocks } from '../../../src/index.ts';

/** A process with a connection of its own, whose next statement arrives only after `arrives`. */
function scene() {
  const clock = manualClock();
  const table = memory({ clock });
  const sent: string[] = [];
  let arrives: Promise<void> | undefined;
  const queues = {
    table: { identify: async () => {} },
    async touch(claims: readonly Claim[], _notAfter: string, _keeps: string, own?: object) {
      sent.push(own ? 'own' : 'pool');
      const stall = own && arrives;
      if (own) arrives = undefined;
      await stall;
      return (await table.renew(claims)).filter((answer) => answer !== 'gone').length;
    },
  };
  const pool = { getConnection() {}, promise() {}, end() {} };
  const renewals = new Renewals(queues as unknown as Queues, pool as unknown as PoolOfOne, clock);
  const engine = around(table, { renew: (claims) => renewals.renew(claims) });
  return {
    clock,
    sent,
    locks: createLocks(engine, { clock }),
    others: createLocks(table, { clock }),
    stallsUntil(promise: Promise<void>) {
      arrives = promise;
    },
  };
}

test('a renewal that our own connection has not answered may still arrive, and shorten an extension: nobody believes in more', async () => {
  const { clock, sent, locks, others, stallsUntil } = scene();
  const lease = await locks.mutex('key').acquire({ ttl: '6s' });
  const arrives = Promise.withResolvers<void>();
  stallsUntil(arrives.promise);
  await clock.advance(3_500);
  expect(sent, 'the next one goes over the pool, and soon').toEqual(['own', 'pool']);
  const extended = lease.extend('10m');
  await clock.advance(100);
  await extended;
  expect(lease.held).toBe(true);
  arrives.resolve();
  await clock.advance(10_000);
  expect(lease.held, 'it is renewed often enough').toBe(true);
  const second = others.mutex('key').tryAcquire();
  await clock.advance(100);
  expect(await second, 'two would hold').toBeNull();
});
