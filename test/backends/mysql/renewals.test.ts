/** Renewals over a connection of our own that is silent for a while, in virtual time; the table is the queue of the memory engine. */
import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import type { Queues } from '../../../src/backends/mysql/queues.ts';
import { Renewals } from '../../../src/backends/mysql/upkeep.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';
import { sleep } from '../../../src/core/index.ts';
import { createLocks } from '../../../src/index.ts';
import { claim } from '../../core/claim.ts';

/** A process with a connection of its own, whose next statement arrives only after `arrives`. */
function scene() {
  const clock = manualClock();
  const table = memory({ clock });
  const sent: string[] = [];
  let arrives: Promise<void> | undefined;
  const queuesOver = (way: 'own' | 'pool') =>
    ({
      table: { identify: async () => {} },
      async touch(claims: readonly Claim[]) {
        sent.push(way);
        const stall = way === 'own' ? arrives : undefined;
        if (way === 'own') arrives = undefined;
        await stall;
        return (await table.renew(claims)).filter((answer) => answer !== 'gone').length;
      },
    }) as unknown as Queues;
  const renewals = new Renewals(queuesOver('pool'), queuesOver('own'), clock);
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

/** Renewals of two portions of holds, whose statements over our own connection take `takes` ms. */
function manyHolds(takes: (statement: number) => number) {
  const clock = manualClock();
  const claims = Array.from({ length: 128 }, (_, n) => claim(`${n}`, { key: `key ${String(n).padStart(3, '0')}` }));
  const sent: string[] = [];
  const queuesOver = (way: 'own' | 'pool') =>
    ({
      table: { identify: async () => {} },
      async touch(portion: readonly Claim[]) {
        const ms = way === 'own' ? takes(sent.length) : 1;
        sent.push(way);
        await sleep(clock, ms);
        return portion.length;
      },
    }) as unknown as Queues;
  return { clock, claims, sent, renewals: new Renewals(queuesOver('pool'), queuesOver('own'), clock) };
}
const RENEWED = { validFor: claim('any').ttl };

test('many holds are renewed over our own connection, though together that takes longer than one statement may', async () => {
  const { clock, claims, sent, renewals } = manyHolds(() => 600);
  const answers = renewals.renew(claims);
  answers.catch(() => {});
  await clock.advance(1_300);
  expect(await answers).toEqual(claims.map(() => RENEWED));
  expect(sent).toEqual(['own', 'own']);
});

test('a statement that is not answered leaves only its own holds unknown: the others are renewed over the pool', async () => {
  const { clock, claims, sent, renewals } = manyHolds((statement) => (statement === 0 ? 60_000 : 1));
  const answers = renewals.renew(claims);
  answers.catch(() => {});
  await clock.advance(1_300);
  expect(await answers).toEqual(claims.map((_, n) => (n < 64 ? 'unknown' : RENEWED)));
  expect(sent).toEqual(['own', 'pool']);
});

test('claims that one write cannot renew go one by one over our own connection, for 1 s, and then over the pool', async () => {
  const clock = manualClock();
  const claims = Array.from({ length: 8 }, (_, n) => claim(`${n}`, { key: `key ${n}` }));
  const sent: string[] = [];
  let most = 0;
  const queuesOver = (way: 'own' | 'pool') => {
    let under = 0;
    return {
      table: { identify: async () => {} },
      touch: async () => 0,
      async renew({ ttl }: Claim) {
        sent.push(way);
        under++;
        if (way === 'own') most = Math.max(most, under);
        await sleep(clock, 300);
        under--;
        return { validFor: ttl };
      },
    } as unknown as Queues;
  };
  const answers = new Renewals(queuesOver('pool'), queuesOver('own'), clock).renew(claims);
  await clock.advance(2_000);
  expect(await answers).toEqual(claims.map(() => RENEWED));
  expect(sent).toEqual([...Array(4).fill('own'), ...Array(4).fill('pool')]);
  expect(most, 'steps at a time over our own connection').toBe(1);
});
