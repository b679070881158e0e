import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { EXCLUSIVE, type Seats, SHARED } from '../../../src/core/admission.ts';
import type { Claim } from '../../../src/core/backend.ts';
import { askRedis, startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { Fleet } from './fleet.ts';
import { granted, Mail, wish } from './scene.ts';

const permit = (of: number): Seats => ({ take: 1, of });

describeOn('redis', 'a line of redis, as its keys have it', () => {
  let server: Server;
  let fleet: Fleet;

  beforeAll(async () => {
    server = await startRedis();
    fleet = new Fleet(server.port);
  });
  beforeEach(() => askRedis(server.port, 'FLUSHALL'));
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  test('when the last who named the smallest room has left, the room is what the others named', async () => {
    const backend = await fleet.backend();
    const [narrow, wide] = [wish('room', {}, permit(2)), wish('room', {}, permit(5))];
    for (const claim of [narrow, wide]) granted(await backend.attempt(claim));
    await backend.release(narrow);
    for (let i = 0; i < 4; i++) granted(await backend.attempt(wish('room', { queue: false }, permit(5))));
    expect((await backend.attempt(wish('room', { queue: false }, permit(5)))).granted, 'a sixth of five').toBe(false);
  });

  test('a permit whose record was lost is free when its holder leaves, while others hold', async () => {
    const backend = await fleet.backend();
    const holders = [1, 2, 3].map(() => wish('record', {}, permit(3))) as [Claim, Claim, Claim];
    for (const claim of holders) granted(await backend.attempt(claim));
    await fleet.ioredis().hdel('holdfast:{record}:claims', holders[1].id);
    expect((await backend.release(holders[1])).freed).toBe(false);
    granted(await backend.attempt(wish('record', { queue: false }, permit(3))));
    expect((await backend.attempt(wish('record', { queue: false }, permit(3)))).granted, 'a fourth').toBe(false);
  });

  test('whoever leaves, from the head or from behind, leaves no record and no place, and the last one no line', async () => {
    const backend = await fleet.backend();
    const client = fleet.ioredis();
    const known = async () => [await client.hlen('holdfast:{all}:claims'), await client.zcard('holdfast:{all}:line')];
    for (const seats of [permit(1), permit(2), SHARED, EXCLUSIVE]) {
      const claims = Array.from({ length: 6 }, () => wish('all', {}, seats));
      for (const claim of claims) await backend.attempt(claim);
      expect(await known()).toEqual([6, 6]);
      // A holder, one that waits, one that is not there any more, the next holder…
      const order = [claims[0]!, claims[4]!, claims[4]!, claims[1]!, claims[2]!, claims[5]!, claims[3]!];
      const left: number[][] = [];
      for (const claim of order) {
        await backend.release(claim);
        left.push(await known());
      }
      expect(left).toEqual([5, 4, 4, 3, 2, 1, 0].map((count) => [count, count]));
    }
  });

  test('who is refused and does not wait leaves the lock as it was', async () => {
    const backend = await fleet.backend();
    const client = fleet.ioredis();
    for (const [held, asked] of [
      [1, 5],
      [5, 1],
    ] as const) {
      const holder = wish('left', {}, permit(held));
      granted(await backend.attempt(holder));
      const before = await client.get('holdfast:{left}');
      const refused = await backend.attempt(wish('left', { queue: false }, permit(asked)));
      expect(refused).toMatchObject({ granted: false, ahead: 1 });
      expect(await client.get('holdfast:{left}'), `of ${held}, asked for one of ${asked}`).toBe(before);
      await backend.release(holder);
    }
  });

  test('a grant that is told where the process listens is good for its whole lease', async () => {
    const backend = await fleet.backend();
    const [holder, waiter] = [wish('told'), wish('told')];
    await using mail = await Mail.of(backend, waiter);
    for (const claim of [holder, waiter]) await backend.attempt(claim);
    await backend.release(holder);
    const { validFor } = (await mail.next())!;
    expect(validFor).toBeGreaterThan(25_000);
  });

  test('a grant that is told where the process may be deaf is good for six seconds, whatever its lease', async () => {
    const backend = await fleet.backend();
    const [holder, waiter] = [wish('deaf'), wish('deaf')];
    // Its channel is not open yet, and it says so.
    for (const claim of [holder, waiter]) await backend.attempt(claim);
    await using mail = await Mail.of(backend, waiter);
    await backend.release(holder);
    await expect.poll(() => mail.wakes.some((wake) => wake)).toBe(true);
    const { validFor } = mail.wakes.find((wake) => wake)!;
    expect(validFor).toBeLessThanOrEqual(6_000);
    expect(validFor).toBeGreaterThan(1_000);
  });

  test('a forced release keeps the last ticket in mind, for as long as a release does', async () => {
    const backend = await fleet.backend('ioredis', { remember: '2h' });
    const { ticket } = granted(await backend.attempt(wish('forced')));
    expect(await backend.evict!('forced', ticket)).toBe(true);
    const client = fleet.ioredis();
    expect(await client.get('holdfast:{forced}')).toBe(`1 free ${ticket} 0001`);
    const left = await client.pttl('holdfast:{forced}');
    expect(left).toBeLessThanOrEqual(7_200_000);
    expect(left).toBeGreaterThan(7_190_000);
  });

  test('a hold whose lease is over is gone: no renewal revives it, also one that asks for another lease', async () => {
    const backend = await fleet.backend();
    const claims = [wish('over', { ttl: 50 }), wish('over too', { ttl: 50 })] as const;
    for (const claim of claims) granted(await backend.attempt(claim));
    await sleep(100);
    expect(await backend.renew([claims[0], { ...claims[1], ttl: 30_000 }])).toEqual(['gone', 'gone']);
  });

  test('a renewal keeps the key of a hold for its lease, and as long as its last ticket is remembered', async () => {
    const backend = await fleet.backend('ioredis', { remember: '2h' });
    const claim = wish('kept');
    granted(await backend.attempt(claim));
    const client = fleet.ioredis();
    await client.persist('holdfast:{kept}');
    expect(await backend.renew([claim])).toEqual([{ validFor: claim.ttl }]);
    const left = await client.pttl('holdfast:{kept}');
    // The script rounds its µs to the nearest ms, PTTL counts from the last one.
    expect(left).toBeLessThanOrEqual(7_230_001);
    expect(left).toBeGreaterThan(7_220_000);
  });

  test('a listing shows for how long a hold in a line was renewed', async () => {
    const backend = await fleet.backend();
    const [renewed, other] = [wish('shown', { ttl: 300 }, SHARED), wish('shown', {}, SHARED)];
    for (const claim of [renewed, other]) granted(await backend.attempt(claim));
    await backend.renew([{ ...renewed, ttl: 20_000 }]);
    const remaining: number[] = [];
    for await (const standing of backend.inspect!('shown', { exact: true })) remaining.push(standing.remaining);
    expect(remaining.map((ms) => Math.ceil(ms / 10_000))).toEqual([2, 3]);
  });

  test('two releases that share a command are two releases', async () => {
    const backend = await fleet.backend();
    // The first two of a turn go alone.
    const claims = [1, 2, 3, 4].map((i) => wish(`turn-${i}`));
    for (const claim of claims) granted(await backend.attempt(claim));
    const releases = await Promise.all(claims.map((claim) => backend.release(claim)));
    expect(releases.map(({ freed }) => freed)).toEqual([true, true, true, true]);
    for (const { key } of claims) granted(await backend.attempt(wish(key, { queue: false })));
  });

  test('who waits in a short line is released by force, by the ticket of its place', async () => {
    const backend = await fleet.backend();
    const [holder, waiter] = [wish('short'), wish('short')];
    const { ticket } = granted(await backend.attempt(holder));
    await backend.attempt(waiter);
    const tickets: bigint[] = [];
    for await (const standing of backend.inspect!('short', { exact: true })) tickets.push(standing.ticket);
    expect(tickets).toHaveLength(2);
    expect(await backend.evict!('short', tickets[1]!)).toBe(true);
    const left: bigint[] = [];
    for await (const standing of backend.inspect!('short', { exact: true })) left.push(standing.ticket);
    expect(left).toEqual([ticket]);
  });

  test('whoever is refused is told when the first of the holders will be gone, also of those it lets in by asking', async () => {
    const backend = await fleet.backend();
    const two = (key: string, ttl: number): Claim => wish(key, { ttl }, permit(2));
    for (const ttl of [20_000, 10_000]) granted(await backend.attempt(two('soonest', ttl)));
    for (const queue of [true, false]) {
      const refused = await backend.attempt({ ...two('soonest', 30_000), queue });
      expect(refused).toMatchObject({ granted: false, retryAfter: expect.closeTo(10_000, -4) });
    }
    const waiter = two('let in', 10_000);
    await using mail = await Mail.of(backend, waiter);
    for (const claim of [two('let in', 50), two('let in', 20_000), waiter]) await backend.attempt(claim);
    await sleep(100);
    const refused = await backend.attempt(two('let in', 30_000));
    expect(await mail.next(), 'the one that is let in').toBeDefined();
    expect(refused).toMatchObject({ granted: false, retryAfter: expect.closeTo(10_000, -4) });
  });

  test('a hold that is alone is granted again for what it asks, and its key is kept as long', async () => {
    const backend = await fleet.backend('ioredis', { remember: '2h' });
    const client = fleet.ioredis();
    const claim = wish('again', { ttl: 20_000 });
    const { ticket } = granted(await backend.attempt(claim));
    for (const [ttl, left] of [
      [10_000, 20_000],
      [40_000, 40_000],
    ] as const) {
      expect(granted(await backend.attempt({ ...claim, ttl })).ticket).toBe(ticket);
      expect(await client.pttl('holdfast:{again}')).toSatisfy((ms: number) => Math.abs(ms - 7_200_000 - left) < 5_000);
      const remaining: number[] = [];
      for await (const standing of backend.inspect!('again', { exact: true })) remaining.push(standing.remaining);
      expect(remaining).toEqual([expect.closeTo(left, -4)]);
    }
  });

  test('a renewal of who shares a room leaves the lapse of who leaves none as it is', async () => {
    const backend = await fleet.backend();
    const [holder, waiter] = [wish('whole', { ttl: 200 }), wish('whole')];
    granted(await backend.attempt(holder));
    for (let i = 0; i < 2; i++) await backend.attempt(waiter); // the second time it asks again in its place
    await sleep(300);
    expect((await backend.release(holder)).freed, 'its lease was over').toBe(false);
    granted(await backend.attempt(waiter));
  });
});
