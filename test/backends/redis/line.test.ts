import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ATTEMPT } from '../../../src/backends/redis/scripts.generated.ts';
import { lockOf } from '../../../src/backends/redis/server.ts';
import { attemptArgs } from '../../../src/backends/redis/wire.ts';
import { type Demand, EXCLUSIVE, SHARED } from '../../../src/core/contract/admission.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';
import { askRedis, startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { Fleet } from './fleet.ts';
import { granted, Mail, wish } from './scene.ts';

const permit = (of: number): Demand => ({ units: 1, capacity: of });

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

  test('of more holders than are counted anew, those who named a wider room leave, and the smallest room counts until its last has left', async () => {
    const backend = await fleet.backend();
    const wide = Array.from({ length: 505 }, () => wish('crowd', {}, permit(600)));
    const all = [wish('crowd', {}, permit(506)), ...wide];
    for (const attempt of await Promise.all(all.map((claim) => backend.attempt(claim)))) granted(attempt);
    for (const claim of wide.slice(0, 3)) expect((await backend.release(claim)).freed).toBe(true);
    for (let i = 0; i < 3; i++) granted(await backend.attempt(wish('crowd', { queue: false }, permit(600))));
    expect((await backend.attempt(wish('crowd', { queue: false }, permit(600)))).granted, 'the 507th').toBe(false);
    expect((await backend.release(all[0]!)).freed).toBe(true);
    for (let i = 0; i < 95; i++) granted(await backend.attempt(wish('crowd', { queue: false }, permit(600))));
    expect((await backend.attempt(wish('crowd', { queue: false }, permit(600)))).granted, 'the 601st').toBe(false);
  });

  test('a lock of more holders than are counted anew can be read, whoever leaves after a record was lost', async () => {
    const backend = await fleet.backend();
    const all = Array.from({ length: 505 }, () => wish('many', {}, permit(600)));
    for (const attempt of await Promise.all(all.map((claim) => backend.attempt(claim)))) granted(attempt);
    await fleet.ioredis().hdel('holdfast:{many}:claims', all[0]!.id);
    expect((await backend.release(all[0]!)).freed, 'whose record was lost').toBe(false);
    for (const claim of all.slice(1, 5)) expect((await backend.release(claim)).freed).toBe(true);
    granted(await backend.attempt(wish('many', { queue: false }, permit(600))));
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

  test('a hold whose record was changed by hand can be given up, and makes the room no wider', async () => {
    const backend = await fleet.backend();
    const client = fleet.ioredis();
    const holders = [1, 2, 3].map(() => wish('changed', {}, permit(3))) as [Claim, Claim, Claim];
    for (const claim of holders) granted(await backend.attempt(claim));
    const record = (await client.hget('holdfast:{changed}:claims', holders[0].id))!;
    await client.hset('holdfast:{changed}:claims', holders[0].id, record.replace(' 1 3 ', ' 1 2 '));
    expect((await backend.release(holders[0])).freed).toBe(true);
    granted(await backend.attempt(wish('changed', { queue: false }, permit(5))));
    expect((await backend.attempt(wish('changed', { queue: false }, permit(5)))).granted, 'a fourth').toBe(false);
  });

  test('a hold whose place was lost, and not its record, is gone for its holder, and for nobody else', async () => {
    const backend = await fleet.backend();
    const holders = [1, 2, 3].map(() => wish('place', {}, permit(3))) as [Claim, Claim, Claim];
    for (const claim of holders) granted(await backend.attempt(claim));
    await fleet.ioredis().zrem('holdfast:{place}:queue', holders[1].id);
    const freed: boolean[] = [];
    for (const claim of [holders[1], holders[0], holders[2]]) freed.push((await backend.release(claim)).freed);
    expect(freed).toEqual([false, true, true]);
  });

  test('who leaves a line too late had nothing to give up, whether it held or waited', async () => {
    const backend = await fleet.backend();
    const [reader, waiter] = [wish('read', { ttl: 10 }, SHARED), wish('wait', { ttl: 10 })];
    for (const claim of [wish('read', {}, SHARED), wish('wait')]) granted(await backend.attempt(claim));
    granted(await backend.attempt(reader));
    await backend.attempt(waiter);
    await sleep(50);
    for (const claim of [reader, waiter]) expect((await backend.release(claim)).freed, claim.key).toBe(false);
  });

  test('who waited, and asks again without waiting, makes room for who stands behind it, and that one is told', async () => {
    const backend = await fleet.backend();
    const [reader, writer, next] = [wish('room', {}, SHARED), wish('room'), wish('room', {}, SHARED)];
    await using mail = await Mail.of(backend, next);
    for (const claim of [reader, writer, next]) await backend.attempt(claim);
    expect(mail.wakes, 'behind a writer').toEqual([]);
    expect((await backend.attempt({ ...writer, queue: false })).granted).toBe(false);
    expect(await mail.next()).toBeDefined();
  });

  test('who waits and is to be told nowhere gets in like others, and hears of it by asking', async () => {
    const backend = await fleet.backend();
    const client = fleet.ioredis();
    const [holder, waiter] = [wish('nowhere'), wish('nowhere')];
    granted(await backend.attempt(holder));
    const asked = attemptArgs(waiter, '-', Date.now() + 60_000, 60_000);
    await client.eval(ATTEMPT.text, 1, lockOf('holdfast', 'nowhere'), ...asked);
    await backend.release(holder);
    expect((await backend.attempt(wish('nowhere', { queue: false }))).granted, 'another').toBe(false);
    expect(Number(await client.zscore('holdfast:{nowhere}:queue', waiter.id)), 'its place').toBeLessThan(0);
  });

  test('whoever leaves, from the head or from behind, leaves no record and no place, and the last one no line', async () => {
    const backend = await fleet.backend();
    const client = fleet.ioredis();
    const known = async () => [await client.hlen('holdfast:{all}:claims'), await client.zcard('holdfast:{all}:queue')];
    for (const demand of [permit(1), permit(2), SHARED, EXCLUSIVE]) {
      const claims = Array.from({ length: 6 }, () => wish('all', {}, demand));
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

  test('a forced release keeps the last token in mind, for as long as a release does', async () => {
    const backend = await fleet.backend('ioredis', { remember: '2h' });
    const { token } = granted(await backend.attempt(wish('forced')));
    expect(await backend.evict!('forced', token)).toBe(true);
    const client = fleet.ioredis();
    expect(await client.get('holdfast:{forced}')).toBe(`1 free ${token} 0001`);
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

  test('a renewal keeps the key of a hold for its lease, and as long as its last token is remembered', async () => {
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

  test('a hold that others wait for, renewed beyond its first lease, is one to give up', async () => {
    const backend = await fleet.backend();
    const client = fleet.ioredis();
    const [holder, waiter] = [wish('beyond'), wish('beyond')];
    for (const claim of [holder, waiter]) await backend.attempt(claim);
    const [one, kind, token, tokenCount, , ...words] = (await client.get('holdfast:{beyond}'))!.split(' ');
    expect(kind).toBe('many');
    // As it stands there when that lease is over, but for the renewals.
    await client.set('holdfast:{beyond}', [one, kind, token, tokenCount, '1'.padStart(16, '0'), ...words].join(' '));
    expect(await backend.renew([holder])).toEqual([{ validFor: holder.ttl }]);
    expect((await backend.release(holder)).freed).toBe(true);
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

  test('who waits in a short line is released by force, by the token of its place', async () => {
    const backend = await fleet.backend();
    const [holder, waiter] = [wish('short'), wish('short')];
    const { token } = granted(await backend.attempt(holder));
    await backend.attempt(waiter);
    const tokens: bigint[] = [];
    for await (const standing of backend.inspect!('short', { exact: true })) tokens.push(standing.token);
    expect(tokens).toHaveLength(2);
    expect(await backend.evict!('short', tokens[1]!)).toBe(true);
    const left: bigint[] = [];
    for await (const standing of backend.inspect!('short', { exact: true })) left.push(standing.token);
    expect(left).toEqual([token]);
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
    const { token } = granted(await backend.attempt(claim));
    for (const [ttl, left] of [
      [10_000, 20_000],
      [40_000, 40_000],
    ] as const) {
      expect(granted(await backend.attempt({ ...claim, ttl })).token).toBe(token);
      expect(Math.abs((await client.pttl('holdfast:{again}')) - 7_200_000 - left)).toBeLessThan(5_000);
      const remaining: number[] = [];
      for await (const standing of backend.inspect!('again', { exact: true })) remaining.push(standing.remaining);
      expect(remaining).toEqual([expect.closeTo(left, -4)]);
    }
  });

  test('a renewal of who shares a room leaves the expiry of who leaves none as it is', async () => {
    const backend = await fleet.backend();
    const [holder, waiter] = [wish('whole', { ttl: 200 }), wish('whole')];
    granted(await backend.attempt(holder));
    for (let i = 0; i < 2; i++) await backend.attempt(waiter); // the second time it asks again in its place
    await sleep(300);
    expect((await backend.release(holder)).freed, 'its lease was over').toBe(false);
    granted(await backend.attempt(waiter));
  });
});
