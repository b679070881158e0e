import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ATTEMPT, RENEW } from '../../../src/backends/redis/scripts.generated.ts';
import { lockOf } from '../../../src/backends/redis/server.ts';
import { attemptArgs, renewArgs } from '../../../src/backends/redis/wire.ts';
import { SHARED } from '../../../src/core/contract/admission.ts';
import type { Backend, Claim } from '../../../src/core/contract/backend.ts';
import { isLockError, type LockError } from '../../../src/core/contract/errors.ts';
import { listOf } from '../../../src/core/contract/promises.ts';
import { askRedis, type RedisSettings, startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { Fleet } from './fleet.ts';
import { granted, Mail, wish } from './scene.ts';
import { writesInScripts } from './version.ts';

/** As docs/backends/redis.md gives it. */
const RIGHTS =
  '~holdfast:* resetchannels &holdfast:wake:* +eval +evalsha +time +get +set +setrange +del +unlink +pexpireat +hset +hget +hdel +hgetall +zadd +zrem +zscore +zrank +zcard +zcount +zrange +zrangebyscore +zrevrangebyscore +publish +subscribe +unsubscribe +scan'.split(
    ' ',
  );

async function refusal(work: Promise<unknown>): Promise<LockError> {
  const error = await work.then(
    (value) => new Error(`expected a refusal, got ${inspect(value)}`),
    (thrown: Error) => thrown,
  );
  if (!isLockError(error, 'LOCK_UNAVAILABLE')) throw error;
  return error;
}

describeOn('redis', 'redis and its settings', () => {
  let server: Server;
  let fleet: Fleet;

  beforeAll(async () => {
    server = await startRedis({ user: ['least', 'on', '>pw', ...RIGHTS] });
    fleet = new Fleet(server.port);
  });
  beforeEach(() => askRedis(server.port, 'FLUSHALL'));
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const codes = async (settings: RedisSettings): Promise<string[]> => {
    await using own = await startRedis(settings);
    await using near = new Fleet(own.port);
    return (await (await near.backend()).check!()).map(({ code }) => code);
  };

  test('an attempt that comes after its time is refused, also of a claim that is there already, and leaves nothing', async () => {
    const [holder, waiter] = [wish('late'), wish('late')];
    const backend = await fleet.backend();
    const lock = lockOf('holdfast', 'late');
    // As it would arrive: the client itself sends none that is late already.
    const arrives = (claim: typeof holder, notAfter: number) =>
      fleet.ioredis().eval(ATTEMPT.text, 1, lock, ...attemptArgs(claim, '-', notAfter, 60_000));
    for (const [i, claim] of [holder, waiter].entries()) {
      expect(String(await arrives(claim, Date.now() - 1_000))).toMatch(/^-1 \d+$/);
      expect(await listOf(backend.inspect!('late')), 'what is there').toHaveLength(i);
      expect(String(await arrives(claim, Date.now() + 5_000))).not.toMatch(/^-1 /);
    }
    expect(String(await arrives(holder, Date.now() - 1_000)), 'of the holder').toMatch(/^-1 \d+$/);
  });

  for (const library of ['ioredis', 'node-redis'] as const) {
    test(`${library}: a user with the documented rights can do everything`, async () => {
      await using near = new Fleet(server.port, { username: 'least', password: 'pw' });
      const backend = await near.backend(library);
      const [holder, waiter, third] = [wish('rights'), wish('rights'), wish('rights', {}, SHARED)];
      await using mail = await Mail.of(backend, waiter);
      granted(await backend.attempt(holder));
      await backend.attempt(waiter);
      await backend.attempt(third);
      expect(await backend.renew([holder])).toEqual([{ validFor: holder.ttl }]);
      await backend.release(holder, wish('rights'));
      const { token } = (await mail.next())!;
      const seen = [];
      for await (const standing of backend.inspect!('rights')) seen.push(standing.held);
      expect(seen).toEqual([true, false, false]);
      expect(await backend.evict!('rights', token)).toBe(true);
      granted(await backend.attempt(third));
      expect((await backend.check!()).map(({ code }) => code)).toEqual(['not-checked']);
    });
  }

  test('without a right, the refusal is definite, names the cause and leaves no id in sight', async () => {
    await askRedis(server.port, `ACL SETUSER poor on >pw ${RIGHTS.filter((right) => right !== '+set').join(' ')}`);
    await using near = new Fleet(server.port, { username: 'poor', password: 'pw' });
    const backend = await near.backend();
    const claim = wish('poor');
    const error = await refusal(backend.attempt(claim));
    expect(error.message).toMatch(/(NOPERM|can't run|no permissions).*grant the user the rights/s);
    expect(error.key).toBe('poor');
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(claim.id);
    expect((await backend.check!()).map(({ code }) => code)).toContain('rights');
  });

  test('of several requests in one script each says in the words of the server why it failed, and nothing of the script', async () => {
    await askRedis(server.port, `ACL SETUSER unset on >pw ${RIGHTS.filter((right) => right !== '+set').join(' ')}`);
    await using near = new Fleet(server.port, { username: 'unset', password: 'pw' });
    const [poor, rich] = [await near.backend(), await fleet.backend()];
    const own = fleet.ioredis();
    await own.set(lockOf('holdfast', 'foreign'), 'something of somebody else');
    await own.lpush(lockOf('holdfast', 'list'), 'of somebody else');
    const saidOf = async (backend: Backend, ...keys: string[]): Promise<string[]> =>
      Promise.all(keys.map(async (key) => (await refusal(backend.attempt(wish(key)))).message));
    const [foreign, list] = await saidOf(rich, 'foreign', 'list');
    expect(foreign).toContain('the key holds something else');
    expect(list).toContain('WRONGTYPE');
    const [one, another] = await saidOf(poor, 'one', 'another');
    expect([one, another]).toEqual(Array(2).fill(expect.stringMatching(/(NOPERM|can't run|no permissions).*grant/s)));
    expect([foreign, list, one, another].join()).not.toMatch(/user_script|table: /);
  });

  test('a server without EVALSHA is refused, and what it was told is not repeated', async () => {
    await using own = await startRedis({ 'rename-command': ['EVALSHA', ''] });
    await using near = new Fleet(own.port);
    for (const library of ['ioredis', 'node-redis'] as const) {
      const claim = wish('k');
      const error = await refusal((await near.backend(library)).release(claim));
      expect(error.message).toMatch(/unknown command .evalsha.\. What to do: .*EVALSHA/i);
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(claim.id);
    }
  });

  test('without the right to its channel, claims still get in by asking', async () => {
    await askRedis(
      server.port,
      `ACL SETUSER deaf on >pw ${RIGHTS.filter((right) => !right.startsWith('&')).join(' ')}`,
    );
    await using near = new Fleet(server.port, { username: 'deaf', password: 'pw' });
    const backend = await near.backend();
    const [holder, waiter] = [wish('deaf'), wish('deaf')];
    await expect(Mail.of(backend, waiter)).rejects.toThrow();
    granted(await backend.attempt(holder));
    expect((await backend.attempt(waiter)).granted).toBe(false);
    await backend.release(holder);
    granted(await backend.attempt(waiter));
  });

  test('a key of another type, of another format, or of a later version is refused and left as it is', async () => {
    const backend = await fleet.backend();
    const client = fleet.ioredis();
    await client.lpush('holdfast:{list}', 'x');
    await client.set('holdfast:{text}', 'hello');
    await client.set('holdfast:{later}', '2 free 1795226102090509');
    await client.set('holdfast:{broken}', '1 sole nonsense');
    for (const key of ['list', 'text', 'later', 'broken']) {
      const error = await refusal(backend.attempt(wish(key)));
      expect(error.message).toMatch(key === 'list' ? /WRONGTYPE/ : /HOLDFAST/);
      await refusal(backend.release(wish(key), wish(key)));
      expect(await backend.renew([wish(key), wish('nobody')])).toEqual(['unknown', 'gone']);
    }
    expect(await client.get('holdfast:{later}')).toBe('2 free 1795226102090509');
  });

  test.each([
    ['a hold', '1 sole 1795226102090509 0001 1795226102090509 nonsense'],
    ['a line', '1 many 1795226102090509 0001 nonsense'],
    ['a line with words missing', '1 many 1795226102090509 0001 1795226102090509 1 1 nonsense'],
  ])('%s that cannot be read is refused, with no word of the script, and not taken over', async (_, text) => {
    const client = fleet.ioredis();
    await client.set('holdfast:{unread}', text);
    const { message } = await refusal((await fleet.backend()).attempt(wish('unread')));
    expect(message).toMatch(/HOLDFAST the key holds something else/);
    expect(message).not.toMatch(/user_script/);
    expect(await client.get('holdfast:{unread}')).toBe(text);
  });

  test('with no more than the rights on the page, what a deleted lock left is deleted, and holders are counted again', async () => {
    await askRedis(server.port, `ACL SETUSER narrow on >pw ${RIGHTS.join(' ')}`);
    await using near = new Fleet(server.port, { username: 'narrow', password: 'pw' });
    const backend = await near.backend();
    const client = fleet.ioredis();
    for (let i = 0; i < 3; i++) await backend.attempt(wish('torn'));
    await client.del('holdfast:{torn}');
    granted(await backend.attempt(wish('torn')));
    expect(await backend.attempt(wish('torn'))).toMatchObject({ granted: false, ahead: 1 });
    expect([await client.zcard('holdfast:{torn}:queue'), await client.hlen('holdfast:{torn}:claims')]).toEqual([2, 2]);
    const [narrow, wide] = [wish('room', {}, { units: 1, capacity: 2 }), wish('room', {}, { units: 1, capacity: 3 })];
    for (const claim of [narrow, wide]) granted(await backend.attempt(claim));
    await backend.release(narrow);
    for (let i = 0; i < 2; i++)
      granted(await backend.attempt(wish('room', { queue: false }, { units: 1, capacity: 3 })));
  });

  test.each([
    ...['READONLY', 'MISCONF', 'NOREPLICAS', 'LOADING', 'MASTERDOWN', 'CLUSTERDOWN'],
  ])('what the server says of itself, as %s, is the reply of the whole script, however it is worded', async (code) => {
    const [whatAllKnow] = ATTEMPT.text.split('local now =');
    const ask = (said: string): Promise<unknown> =>
      fleet.ioredis().eval(`${whatAllKnow} return safely(function() error(${said}, 0) end)`, 0);
    await expect(ask(`{ err = '${code} it is so' }`)).rejects.toThrow(new RegExp(`^${code} it is so`));
    const before7 = `'ERR Error running script: @user_script: 3: -${code} it is so'`;
    await expect(ask(before7)).rejects.toThrow(new RegExp(`^${code} it is so`));
    expect(await ask(`{ err = 'WRONGTYPE of ${code}' }`), 'of one key').toBe(`! WRONGTYPE of ${code}`);
    const ofOneKey = `'@user_script: 3: WRONGTYPE of ${code}'`;
    expect(await ask(ofOneKey), 'of one key, before 7').toBe(`! WRONGTYPE of ${code}`);
    // Before 7 the server's own pcall hands a table on.
    const handed = (said: string): Promise<unknown> =>
      fleet
        .ioredis()
        .eval(`local pcall = function() return false, { err = '${said}' } end ${whatAllKnow} return safely()`, 0);
    await expect(handed(`${code} it is so`)).rejects.toThrow(new RegExp(`^${code} it is so`));
    expect(await handed(`WRONGTYPE of ${code}`), 'of one key, as a table').toBe(`! WRONGTYPE of ${code}`);
  });

  test('one bad key does not harm what is asked in the same turn', async () => {
    const backend = await fleet.backend();
    await fleet.ioredis().lpush('holdfast:{bad}', 'x');
    const claims = ['fine-1', 'bad', 'fine-2'].map((key) => wish(key));
    const attempts = await Promise.allSettled(claims.map((claim) => backend.attempt(claim)));
    expect(attempts.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const releases = await Promise.allSettled(claims.map((claim) => backend.release(claim)));
    expect(releases.map((release) => release.status === 'fulfilled' && release.value.freed)).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('a line that cannot be read harms no release in the same turn', async () => {
    const backend = await fleet.backend();
    const [bad, ...fine] = ['bad', 'fine-1', 'fine-2', 'fine-3', 'fine-4', 'fine-5', 'fine-6'].map((key) => wish(key));
    for (const claim of [bad!, wish('bad'), ...fine]) await backend.attempt(claim);
    await fleet.ioredis().set('holdfast:{bad}:queue', 'x');
    const releases = await Promise.allSettled(
      [...fine.slice(3), bad!, ...fine.slice(0, 3)].map((it) => backend.release(it)),
    );
    expect(releases.map((release) => release.status === 'fulfilled' && release.value.freed)).toEqual([
      ...[true, true, true, false],
      ...[true, true, true],
    ]);
  });

  test('a key that the user may not touch harms nothing that is asked in the same turn', async () => {
    await askRedis(server.port, 'ACL SETUSER part on >pw ~holdfast:{mine* &* +@all');
    await using near = new Fleet(server.port, { username: 'part', password: 'pw' });
    const backend = await near.backend();
    granted(await backend.attempt(wish('mine: a first contact')));
    const claims = [1, 2, 3, 4, 5, 6, 7].map((i) => wish(i === 4 ? 'theirs' : `mine-${i}`));
    const each = [true, true, true, false, true, true, true];
    const attempts = await Promise.allSettled(claims.map((claim) => backend.attempt(claim)));
    expect(attempts.map((attempt) => attempt.status === 'fulfilled' && attempt.value.granted)).toEqual(each);
    expect((await refusal(backend.attempt(claims[3]!))).message).toMatch(/NOPERM/);
    const releases = await Promise.allSettled(claims.map((claim) => backend.release(claim)));
    expect(releases.map((release) => release.status === 'fulfilled' && release.value.freed)).toEqual(each);
  });

  test('keys that share a command stay apart: beside one that is held alone, another keeps its room', async () => {
    const backend = await fleet.backend();
    const [alone, next] = [wish('alone'), wish('alone')];
    const readers = Array.from({ length: 2 }, () => wish('read', {}, SHARED));
    const permits = Array.from({ length: 2 }, () => wish('five', {}, { units: 1, capacity: 5 }));
    for (const claim of [alone, ...readers, ...permits]) granted(await backend.attempt(claim));
    await backend.attempt(next);
    const all = [alone, ...readers, ...permits];
    expect(await backend.renew(all)).toEqual(all.map(({ ttl }) => ({ validFor: ttl })));
    granted(await backend.attempt(wish('read', { queue: false }, SHARED)));
    const only = wish('five', {}, { units: 1, capacity: 1 });
    await backend.attempt(only);
    await backend.release(permits[0]!);
    expect((await backend.attempt(only)).granted, 'the other permit is still held').toBe(false);
  });

  test('a line that lost its lock key is a lock that was deleted: the next one starts anew', async () => {
    const backend = await fleet.backend();
    const client = fleet.ioredis();
    const old = [wish('torn'), wish('torn'), wish('torn')];
    const { token } = granted(await backend.attempt(old[0]!));
    for (const claim of old.slice(1)) await backend.attempt(claim);
    await client.del('holdfast:{torn}');
    expect(await backend.renew([old[0]!])).toEqual(['gone']);
    expect(await client.zcard('holdfast:{torn}:queue'), 'a line without a lock').toBe(3);
    expect(await backend.evict!('torn', token), 'nobody is there').toBe(false);
    for await (const standing of backend.inspect!('torn', { exact: true })) expect.unreachable(inspect(standing));
    const [holder, waiter] = [wish('torn'), wish('torn')];
    granted(await backend.attempt(holder));
    expect(await backend.attempt(waiter)).toMatchObject({ granted: false, ahead: 1 });
    await backend.release(holder);
    granted(await backend.attempt(waiter));
  });

  for (const part of ['line', 'claims']) {
    test(`a lock whose ${part} were evicted comes free again`, async () => {
      const backend = await fleet.backend();
      const client = fleet.ioredis();
      const key = `torn-${part}`;
      const [holder, waiter] = [wish(key, { ttl: 300 }), wish(key, { ttl: 300 })];
      granted(await backend.attempt(holder));
      await backend.attempt(waiter);
      await client.del(`holdfast:{${key}}:${part}`);
      const next = wish(key);
      await expect.poll(async () => (await backend.attempt(next)).granted, { timeout: 5_000 }).toBe(true);
    });
  }

  test('short of memory, new locks are refused, and holds are renewed and released', async () => {
    await using own = await startRedis({ 'maxmemory-policy': 'noeviction' });
    await using near = new Fleet(own.port);
    const backend = await near.backend();
    const client = near.ioredis();
    const [alone, reader, other] = [wish('oom'), wish('oom-shared', {}, SHARED), wish('oom-shared', {}, SHARED)];
    for (const claim of [alone, reader, other]) granted(await backend.attempt(claim));
    await client.config('SET', 'maxmemory', '100kb');
    expect((await refusal(backend.attempt(wish('oom-new')))).message).toMatch(/OOM.*maxmemory/s);
    expect(await backend.renew([alone, reader])).toEqual([{ validFor: alone.ttl }, { validFor: reader.ttl }]);
    expect((await backend.release(alone)).freed).toBe(true);
    expect(await client.get('holdfast:{oom}'), 'a release writes less than it removes').toMatch(/^1 free \d{16} /);
    expect((await backend.release(reader)).freed).toBe(true);
    expect(await backend.renew([other])).toEqual([{ validFor: other.ttl }]);
  });

  test('short of memory, a release keeps the last token that is ahead of the clock, and as long as before', async () => {
    await using own = await startRedis({ 'maxmemory-policy': 'noeviction' });
    await using near = new Fleet(own.port);
    const remember = 60_000;
    const backend = await near.backend('ioredis', { remember });
    const client = near.ioredis();
    const minToken = BigInt(Date.now() + 600_000) * 1_000n;
    const holders = ['released', 'evicted', 'shared'].map((key) =>
      wish(key, { minToken }, key === 'shared' ? SHARED : undefined),
    );
    const [released, evicted, shared] = holders as [Claim, Claim, Claim];
    const reader = wish('shared', {}, SHARED);
    for (const claim of [...holders, reader]) granted(await backend.attempt(claim));
    await client.config('SET', 'maxmemory', '100kb');
    expect((await backend.release(released)).freed).toBe(true);
    await backend.evict!(evicted.key, minToken);
    for (const claim of [shared, reader]) expect((await backend.release(claim)).freed).toBe(true);
    await client.config('SET', 'maxmemory', '0');
    for (const { key } of holders) {
      expect(await client.get(`holdfast:{${key}}`), key).toMatch(/^1 free /);
      const kept = await client.pttl(`holdfast:{${key}}`);
      expect(kept, `${key}: until the clock has passed the token`).toBeGreaterThan(600_000);
      expect(kept, key).toBeLessThan(601_000 + remember);
      expect(granted(await backend.attempt(wish(key))).token, key).toBeGreaterThan(minToken);
    }
  });

  test('a primary that is cut off from its replicas refuses a release, and tells nobody that it is their turn', async ({
    skip,
  }) => {
    if (await writesInScripts(server.port)) skip('scripts of Redis 6 write all the same');
    await using own = await startRedis();
    await using near = new Fleet(own.port);
    const backend = await near.backend();
    const [holder, waiter] = [wish('cut-off'), wish('cut-off')];
    await using mail = await Mail.of(backend, waiter);
    granted(await backend.attempt(holder));
    await backend.attempt(waiter);
    await askRedis(own.port, 'CONFIG SET min-replicas-to-write 1');
    await expect(backend.release(holder)).rejects.toThrow(/NOREPLICAS/);
    await askRedis(own.port, 'CONFIG SET min-replicas-to-write 0');
    expect((await backend.attempt(waiter)).granted).toBe(false);
    expect(mail.wakes, 'told, and not granted').toEqual([]);
    expect(await backend.release(holder)).toMatchObject({ freed: true });
    expect((await mail.next())?.token).toBe(granted(await backend.attempt(waiter)).token);
  });

  test('what a primary that is cut off refuses is refused, whatever else the same script was asked', async ({
    skip,
  }) => {
    if (await writesInScripts(server.port)) skip('scripts of Redis 6 write all the same');
    await using own = await startRedis();
    await using near = new Fleet(own.port);
    const backend = await near.backend();
    const holds = [wish('first'), wish('second')] as const;
    for (const claim of holds) granted(await backend.attempt(claim));
    await askRedis(own.port, 'CONFIG SET min-replicas-to-write 1');
    // The next claim is refused for the holder, which writes nothing.
    const passed = backend.release(holds[0], wish('first', { queue: false }));
    await expect(passed, 'a release and the next claim').rejects.toThrow(/NOREPLICAS/);
    // Of the whole script, so that the client's own logic sees it.
    const locks = holds.map(({ key }) => lockOf('holdfast', key));
    const renewed = near.ioredis().eval(RENEW.text, 2, ...locks, ...holds.flatMap((claim) => renewArgs(claim, 60_000)));
    await expect(renewed, 'two renewals').rejects.toThrow(/^NOREPLICAS/);
  });

  test('a grant is told at the primary alone, and its replicas know of the hold', async () => {
    await using replica = await startRedis({ replicaof: ['127.0.0.1', `${server.port}`] });
    await using near = new Fleet(replica.port);
    const [backend, client, copy, listener] = [
      await fleet.backend(),
      ...[fleet.ioredis(), near.ioredis(), near.ioredis()],
    ] as const;
    const [holder, waiter] = [wish('told'), wish('told')];
    await using mail = await Mail.of(backend, waiter);
    for (const claim of [holder, waiter]) await backend.attempt(claim);
    await expect.poll(() => copy.exists('holdfast:{told}:queue'), { timeout: 10_000 }).toBe(1);
    const heard: string[] = [];
    listener.on('pmessage', (_, channel) => heard.push(channel));
    await listener.psubscribe('*');
    await backend.release(holder);
    expect(await mail.next()).toBeDefined();
    // A replica gets all in the order in which it was done.
    await client.publish('afterwards', '');
    await expect.poll(() => heard.includes('afterwards'), { timeout: 10_000 }).toBe(true);
    expect(heard).toEqual(['afterwards']);
    const known = async (at: typeof client): Promise<unknown> => [
      await at.get('holdfast:{told}'),
      await at.zrange('holdfast:{told}:queue', '0', '-1', 'WITHSCORES'),
    ];
    expect(await known(copy)).toEqual(await known(client));
  });

  test('a replica may be promoted: an attempt on it is an unknown outcome, not a refusal', async () => {
    await using replica = await startRedis({ replicaof: ['127.0.0.1', `${server.port}`] });
    await using near = new Fleet(replica.port);
    const error = await (await near.backend()).attempt(wish('replica')).then(String, (thrown) => thrown);
    expect(isLockError(error), String(error)).toBe(false);
    expect(String(error)).toMatch(/READONLY/);
  });

  test('a replica answers each of those that share a command in the same way', async () => {
    const held = [1, 2, 3, 4, 5].map((i) => wish(`held-${i}`));
    const primary = await fleet.backend();
    for (const claim of held) granted(await primary.attempt(claim));
    await using replica = await startRedis({ replicaof: ['127.0.0.1', `${server.port}`] });
    await using near = new Fleet(replica.port);
    await expect.poll(() => near.ioredis().exists('holdfast:{held-5}'), { timeout: 10_000 }).toBe(1);
    const backend = await near.backend();
    await backend.attempt(wish('replica')).catch(() => {});
    const attempts = await Promise.allSettled([1, 2, 3, 4, 5].map((i) => backend.attempt(wish(`replica-${i}`))));
    const releases = await Promise.allSettled(held.map((claim) => backend.release(claim)));
    for (const each of [...attempts, ...releases])
      expect(String((each as PromiseRejectedResult).reason)).toMatch(/READONLY/);
  });

  test('idle keys vanish within minutes, or as is wanted, and a hold of weeks does not', async () => {
    const client = fleet.ioredis();
    const MINUTE = 60_000;
    const WEEKS = 30_240 * MINUTE;
    const keys = async (): Promise<number[]> => {
      const names = await client.keys('holdfast:{idle}*');
      return Promise.all(names.map((name) => client.pttl(name)));
    };
    for (const [remember, ms] of [
      [undefined, 5 * MINUTE],
      ['2h', 120 * MINUTE],
      ['10s', 10_000],
    ] as const) {
      const backend = await fleet.backend('ioredis', { remember });
      const [first, second] = [wish('idle'), wish('idle')];
      granted(await backend.attempt(first));
      await backend.attempt(second);
      for (const left of await keys()) expect(left).toBeGreaterThan(29_000 + ms);
      await backend.renew([{ ...first, ttl: WEEKS }]);
      for (const left of await keys()) expect(left).toBeGreaterThan(WEEKS);
      await backend.release(first);
      await backend.release(second);
      expect(await client.keys('holdfast:{idle}*')).toEqual(['holdfast:{idle}']);
      const [left] = await keys();
      expect(left, `idle, with remember ${remember}`).toBeLessThanOrEqual(ms);
      expect(left).toBeGreaterThan(ms - 5_000);
      const alone = wish('idle', { ttl: WEEKS });
      granted(await backend.attempt(alone));
      await backend.release(alone);
      expect((await keys())[0], 'the rest of a long lease that was given back').toBeLessThanOrEqual(ms);
      await askRedis(server.port, 'FLUSHALL');
    }
  });

  test('a key outlives a last token that is days ahead of the clock, also when its hold was renewed', async () => {
    const backend = await fleet.backend();
    const DAYS = 3 * 86_400_000;
    const claim = wish('ahead', { minToken: BigInt(Date.now() + DAYS) * 1_000n });
    granted(await backend.attempt(claim));
    await backend.renew([claim]);
    await backend.release(claim);
    expect(await fleet.ioredis().pttl('holdfast:{ahead}')).toBeGreaterThan(DAYS);
  });

  test('a key prefix of the client itself keeps its locks apart, and inspect sees them', async () => {
    const apart = fleet.over(fleet.ioredis({ keyPrefix: 'app[1]:' }));
    granted(await apart.attempt(wish('prefixed')));
    granted(await (await fleet.backend()).attempt(wish('prefixed')));
    const seen: string[] = [];
    for await (const { key } of apart.inspect!('pre')) seen.push(key);
    expect(seen).toEqual(['prefixed']);
  });

  test('check says what endangers locks on this server', async () => {
    expect(await codes({})).toEqual(['no-persistence']);
    expect(await codes({ appendonly: 'yes', appendfsync: 'always' })).toEqual([]);
    expect(await codes({ appendonly: 'yes' })).toEqual(['appendfsync']);
    expect(await codes({ appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'allkeys-lru' })).toEqual([
      'eviction-policy',
    ]);
    const alone = { appendonly: 'yes', appendfsync: 'always', 'min-replicas-to-write': '1' };
    expect(await codes({ ...alone, 'min-replicas-max-lag': '60' })).toContain('replica-lag');
    expect(await codes({ ...alone, 'min-replicas-max-lag': '3' })).not.toContain('replica-lag');
    expect(await codes({ replicaof: ['127.0.0.1', `${server.port}`] })).toContain('replica');
  });
});
