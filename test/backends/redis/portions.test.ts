import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ATTEMPT, INSPECT, RELEASE, RENEW } from '../../../src/backends/redis/scripts.generated.ts';
import { lockOf } from '../../../src/backends/redis/server.ts';
import { attemptArgs, releaseArgs, renewArgs } from '../../../src/backends/redis/wire.ts';
import { SHARED } from '../../../src/core/contract/admission.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';
import { askRedis, startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { Fleet } from './fleet.ts';
import { granted, Mail, wish } from './scene.ts';

const MANY = 1_500;

describeOn('redis', 'redis and long lines: no script does more than a portion', () => {
  let server: Server;
  let fleet: Fleet;

  beforeAll(async () => {
    server = await startRedis();
    fleet = new Fleet(server.port);
  });
  beforeEach(async () => void (await askRedis(server.port, 'FLUSHALL')));
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const scripts = async (): Promise<{ count: number; told: number }> => {
    const info = await askRedis(server.port, 'INFO commandstats');
    const calls = (name: string): number => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(info)?.[1] ?? 0);
    return { count: calls('evalsha') + calls('eval'), told: calls('publish') };
  };

  /** Claims that stand in line, of a process that is gone. */
  async function dead(key: string): Promise<void> {
    const listening = async (): Promise<string> =>
      (await askRedis(server.port, 'PUBSUB CHANNELS *:wake:*')).split('\r\n')[0]!;
    const before = await listening();
    const gone = await fleet.backend();
    const claims = Array.from({ length: MANY }, () => wish(key));
    await Mail.of(gone, claims[0]!);
    await Promise.all(claims.map((claim) => gone.attempt(claim)));
    await gone.close();
    await until('nobody listens for them', async () => (await listening()) === before);
  }

  test('dead waiters are passed fifty at a time, and the living one behind them is told', async () => {
    const [near, far] = [await fleet.backend(), await fleet.backend()];
    const [holder, waiter] = [wish('dead'), wish('dead')];
    granted(await near.attempt(holder));
    await dead('dead');
    await using mail = await Mail.of(far, waiter);
    await far.attempt(waiter);
    await askRedis(server.port, 'CONFIG RESETSTAT');
    expect((await near.release(holder)).freed).toBe(true);
    expect((await mail.next())?.token).toBe(granted(await far.attempt(waiter)).token);
    const { count, told } = await scripts();
    expect(told).toBeGreaterThanOrEqual(MANY);
    expect(told / count, 'told by one script').toBeLessThanOrEqual(51);
  });

  test('who does not wait is not refused for the dead: the lock is free', async () => {
    const backend = await fleet.backend();
    const holder = wish('dead');
    granted(await backend.attempt(holder));
    await dead('dead');
    expect(await backend.renew([{ ...holder, ttl: 50 }])).toEqual([{ validFor: 50 }]);
    await sleep(100);
    granted(await backend.attempt(wish('dead', { queue: false })));
  });

  test('readers are admitted fifty at a time, all of them, and every one is told', async () => {
    const backend = await fleet.backend();
    const writer = wish('read');
    const readers = Array.from({ length: MANY }, () => wish('read', {}, SHARED)) as [Claim, ...Claim[]];
    granted(await backend.attempt(writer));
    const mails = await Promise.all(readers.map((reader) => Mail.of(backend, reader)));
    await Promise.all(readers.map((reader) => backend.attempt(reader)));
    await askRedis(server.port, 'CONFIG RESETSTAT');
    await backend.release(writer);
    for (const mail of mails) expect(await mail.next()).toBeDefined();
    const { count, told } = await scripts();
    expect(told).toBe(MANY);
    expect(told / count, 'admitted by one script').toBeLessThanOrEqual(51);
    const before = (await scripts()).count;
    const renewals = await backend.renew(readers);
    expect(new Set(renewals.map((renewal) => typeof renewal)), 'all of them are renewed').toEqual(new Set(['object']));
    expect((await scripts()).count - before, 'fifty of a line by one script').toBeGreaterThanOrEqual(MANY / 50);
    expect((await backend.attempt(wish('read', { queue: false }))).granted, 'a writer').toBe(false);
  });

  test.each([
    ['all of fifty', [50], [1]],
    ['and one of fifty-one is left', [51], [3]],
    ['over all that it is asked: all of thirty and twenty', [30, 20], [1, 1]],
    ['over all that it is asked: of thirty and twenty-one is one left', [30, 21], [1, 3]],
  ])('one script admits fifty: %s', async (_, lines, replies) => {
    const backend = await fleet.backend();
    const holders = lines.map((_, i) => wish(`line-${i}`));
    for (const [i, holder] of holders.entries()) {
      granted(await backend.attempt(holder));
      await Promise.all(Array.from({ length: lines[i]! }, () => backend.attempt(wish(holder.key, {}, SHARED))));
    }
    const locks = holders.map(({ key }) => lockOf('holdfast', key));
    const asked = holders.flatMap(({ id }) => releaseArgs(id, 60_000));
    const reply = await fleet.ioredis().eval(RELEASE.text, locks.length, ...locks, ...asked);
    expect([reply].flat()).toEqual(replies);
  });

  test.each([
    [50, /^\d{16} /],
    [51, /^-2 /],
  ])('one script passes fifty whose lease is over: of %i', async (count, reply) => {
    const backend = await fleet.backend();
    const client = fleet.ioredis();
    const permit = (): Claim => wish('passed', {}, { units: 1, capacity: 60 });
    const holders = Array.from({ length: count }, permit);
    for (const attempt of await Promise.all(holders.map((claim) => backend.attempt(claim)))) granted(attempt);
    const lock = lockOf('holdfast', 'passed');
    const over = -(Date.now() - 1_000) * 1_000;
    await client.zadd(`${lock}:queue`, 'XX', ...holders.flatMap(({ id }) => [over, id]));
    const asked = attemptArgs(permit(), '-', Date.now() + 60_000, 60_000);
    expect(await client.eval(ATTEMPT.text, 1, lock, ...asked)).toMatch(reply);
  });

  test('one script renews fifty holds that stand in lines, and the others are to be asked for again', async () => {
    const backend = await fleet.backend();
    const readers = Array.from({ length: 52 }, () => wish('renewed', {}, SHARED));
    for (const attempt of await Promise.all(readers.map((claim) => backend.attempt(claim)))) granted(attempt);
    const locks = readers.map(({ key }) => lockOf('holdfast', key));
    const asked = readers.flatMap((claim) => renewArgs(claim, 60_000));
    const replies = await fleet.ioredis().eval(RENEW.text, locks.length, ...locks, ...asked);
    expect(replies).toEqual([...Array(50).fill(1), 2, 2]);
  });

  test('holders whose lease is over leave fifty at a time, and who asks then is admitted', async () => {
    const backend = await fleet.backend();
    const permits = { units: 1, capacity: 120 };
    const claims = Array.from({ length: 120 }, () => wish('expired', {}, permits));
    for (const claim of claims) granted(await backend.attempt(claim));
    for (let i = 0; i < claims.length; i += 40)
      await backend.renew(claims.slice(i, i + 40).map((claim) => ({ ...claim, ttl: 50 })));
    await sleep(100);
    await askRedis(server.port, 'CONFIG RESETSTAT');
    granted(await backend.attempt(wish('expired', {}, permits)));
    expect((await scripts()).count, 'of fifty, of fifty, of twenty').toBe(3);
  });

  test('a process that dies in the middle of it loses no wake-up: whoever asks next goes on', async () => {
    const [near, far] = [fleet.over(await fleet.client('ioredis')), await fleet.backend()];
    const [holder, waiter] = [wish('dead'), wish('dead')];
    granted(await near.attempt(holder));
    await dead('dead');
    await near.close(); // its client goes on: it releases, and does no more
    expect((await near.release(holder)).freed).toBe(true);
    granted(await far.attempt(waiter));
  });

  test.each([
    ['leases of all lengths', 0],
    ['leases that end together, twelve at a time', 12],
    ['leases that all end in one moment', MANY],
  ])('a line that nobody moves in is shown in portions, and each of it once: %s', async (_, together) => {
    const backend = await fleet.backend();
    const client = fleet.ioredis();
    const readers = Array.from({ length: MANY }, () => wish('shown', {}, SHARED));
    const waiters = Array.from({ length: MANY }, () => wish('shown'));
    for (const claims of [readers, waiters]) await Promise.all(claims.map((claim) => backend.attempt(claim)));
    const lock = lockOf('holdfast', 'shown');
    const far = (Date.now() + 3_600_000) * 1_000;
    const scores = readers.flatMap(({ id }, i) => [-(far + (together ? Math.floor(i / together) : i)), id]);
    await client.zadd(`${lock}:queue`, 'XX', ...scores);
    const shown: string[] = [];
    for (let place = '', first = true; first || place !== ''; first = false) {
      const [, rest, ...rows] = (await client.eval(INSPECT.text, 1, lock, place)) as string[];
      expect(rows.length, 'by one script').toBeLessThanOrEqual(500);
      shown.push(...rows);
      place = rest!;
    }
    expect(shown).toHaveLength(2 * MANY);
    expect(new Set(shown).size).toBe(2 * MANY);
    const held: boolean[] = [];
    for await (const standing of backend.inspect!('shown', { exact: true })) held.push(standing.held);
    expect(held).toEqual([...Array(MANY).fill(true), ...Array(MANY).fill(false)]);
  });
});
