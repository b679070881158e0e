import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Demand } from '../../../src/core/contract/admission.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';
import { askRedis, startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { Fleet } from './fleet.ts';
import { granted, Mail, wish } from './scene.ts';

const HOUR = 3_600_000;
const LONG = { ttl: 5 * HOUR };
const permit = (of: number): Demand => ({ units: 1, capacity: of });

describeOn('redis', 'the keys of a line of redis', () => {
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

  /** For how long each of the three is there yet, at the least, in hours. */
  async function lives(key: string): Promise<number> {
    const client = fleet.ioredis();
    const keys = ['', ':queue', ':claims'].map((end) => `holdfast:{${key}}${end}`);
    const left = await Promise.all(keys.map((each) => client.pttl(each)));
    return Math.min(...left) / HOUR;
  }

  const backendOf = () => fleet.backend('ioredis', { remember: '2h' });

  test.each([
    ['the hold that was alone', [LONG, {}]],
    ['the one that came beside it', [{}, LONG]],
    ['one between others', [{}, LONG, {}]],
  ])('live as long as the longest lease, and its last token is remembered: that of %s', async (_, leases) => {
    const backend = await backendOf();
    for (const lease of leases) granted(await backend.attempt(wish('long', lease, permit(5))));
    expect(await lives('long')).toBeGreaterThan(6.9);
  });

  test.each([
    ['two come with it', [LONG, LONG], undefined],
    ['one is renewed for it', [{}, {}], LONG],
  ])('live hardly longer than the longest lease, and its last token is remembered, where nobody returns: %s', async (_, leases, renewed) => {
    const backend = await backendOf();
    const claims = leases.map((lease) => wish('short', lease, permit(5)));
    for (const claim of claims) granted(await backend.attempt(claim));
    if (renewed) await backend.renew([{ ...claims[0]!, ...renewed }]);
    const hours = await lives('short');
    expect(hours).toBeGreaterThan(6.9);
    expect(hours).toBeLessThan(8);
  });

  test('live as long as whoever lets one in remembers its last token, though that one itself would remember it for less', async () => {
    const [long, brief] = [await backendOf(), await fleet.backend('ioredis', { remember: '10s' })];
    const [holder, waiter] = [wish('mixed'), wish('mixed', LONG)];
    granted(await long.attempt(holder));
    await using mail = await Mail.of(brief, waiter);
    await brief.attempt(waiter);
    await long.release(holder);
    expect(await mail.next()).toBeDefined();
    expect(await lives('mixed')).toBeGreaterThan(6.9);
  });

  test('live as long as the lease of who waited, when it holds', async () => {
    const backend = await backendOf();
    const [holder, waiter] = [wish('next'), wish('next', LONG)];
    granted(await backend.attempt(holder));
    await using mail = await Mail.of(backend, waiter);
    await backend.attempt(waiter);
    await backend.attempt(wish('next'));
    await fleet.ioredis().pexpire('holdfast:{next}', HOUR);
    await backend.release(holder);
    expect(await mail.next()).toBeDefined();
    expect(await lives('next')).toBeGreaterThan(6.9);
  });

  test('are gone when the last lease is over and one comes who finds nobody: it is alone again, with one key', async () => {
    const backend = await backendOf();
    for (let i = 0; i < 2; i++) granted(await backend.attempt(wish('over', { ttl: 50 }, permit(2))));
    await sleep(100);
    granted(await backend.attempt(wish('over', {}, permit(2))));
    expect(await fleet.ioredis().get('holdfast:{over}')).toMatch(/^1 sole /);
  });

  test('have no place of one that waited, and asks again without waiting', async () => {
    const backend = await backendOf();
    const [holder, first, second] = [wish('leaves'), wish('leaves'), wish('leaves')];
    for (const claim of [holder, first, second]) await backend.attempt(claim);
    const left = await backend.attempt({ ...first, queue: false });
    expect(left).toMatchObject({ granted: false });
    const client = fleet.ioredis();
    expect(await client.zrange('holdfast:{leaves}:queue', '0', '-1')).toEqual([holder.id, second.id]);
    expect((await client.hkeys('holdfast:{leaves}:claims')).sort()).toEqual([holder.id, second.id].sort());
  });

  test('have no place of those whose record was lost, when one of them leaves and the holders are counted anew', async () => {
    const backend = await backendOf();
    const [narrow, lost, other] = [3, 5, 5].map((of) => wish('anew', {}, permit(of))) as [Claim, Claim, Claim];
    for (const claim of [narrow, lost, other]) granted(await backend.attempt(claim));
    const client = fleet.ioredis();
    await client.hdel('holdfast:{anew}:claims', lost.id, other.id);
    for (const claim of [narrow, lost]) await backend.release(claim);
    expect(await client.zrange('holdfast:{anew}:queue', '0', '-1')).not.toContain(other.id);
    for (let i = 0; i < 5; i++) granted(await backend.attempt(wish('anew', { queue: false }, permit(5))));
    expect((await backend.attempt(wish('anew', { queue: false }, permit(5)))).granted, 'a sixth of five').toBe(false);
  });
});
