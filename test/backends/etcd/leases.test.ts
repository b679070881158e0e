import { afterAll, beforeAll, expect, test } from 'vitest';
import { Etcd } from '../../../src/backends/etcd/backend.ts';
import { etcd } from '../../../src/backends/etcd/index.ts';
import { open } from '../../../src/backends/etcd/options.ts';
import type { Client } from '../../../src/backends/etcd/wire/client.ts';
import { GRANT, KEEP_ALIVE } from '../../../src/backends/etcd/wire/messages.ts';
import type { Backend, Claim, Grant } from '../../../src/core/contract/backend.ts';
import { type Clock, systemClock } from '../../../src/core/contract/clock.ts';
import { listOf } from '../../../src/core/contract/promises.ts';
import { startEtcd } from '../../kit/etcd.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf, endpoint, etcdctl, keys, leases } from './etcdctl.ts';

type Step = PromiseWithResolvers<void>;

describeOn('etcd', 'the leases of holds', () => {
  let server: Server;
  let proxy: FaultProxy;
  let backend: Backend;

  beforeAll(async () => {
    server = await startEtcd();
    proxy = await startProxy(server.port);
    backend = etcd({ endpoints: endpoint(proxy) });
  });
  afterAll(async () => {
    await backend?.close();
    await proxy?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  /** Of the key that begins so, as etcd has it. */
  /** Of the head of the line: names are digests, so their order says nothing. */
  async function ttlOf(start: string): Promise<number> {
    const head = ['--prefix', '--sort-by', 'CREATE', '--limit', '1'];
    const stored = await etcdctl([server], 'get', `holdfast/${start}/`, ...head, '-w', 'json');
    const id = BigInt(/"lease":(\d+)/.exec(stored)![1]!).toString(16);
    return Number(/granted with TTL\((\d+)s\)/.exec(await etcdctl([server], 'lease', 'timetolive', id))![1]);
  }

  test('one after the other, many holds share one lease', async () => {
    const before = (await leases([server])).length;
    for (let turn = 0; turn < 10; turn++) {
      const claim = claimOf(`turn ${turn}`);
      await backend.attempt(claim);
      await backend.release(claim);
    }
    expect(await leases([server])).toHaveLength(before + 1);
  });

  test('at the same time, each hold has one of its own', async () => {
    const claims = [1, 2, 3].map((number) => claimOf(`own ${number}`, { ttl: 11_000 }));
    const before = (await leases([server])).length;
    await Promise.all(claims.map((claim) => backend.attempt(claim)));
    expect(await leases([server])).toHaveLength(before + 3);
    for (const claim of claims) await backend.release(claim);
  });

  test('a place has a short lease, the hold that comes of it a full one, by mail as by asking', async () => {
    const [holder, listener, asker] = [1, 2, 3].map(() => claimOf('stages', { ttl: 40_000 })) as [never, never, never];
    await backend.attempt(holder);
    await backend.attempt(listener);
    await backend.attempt(asker);
    let validFor = 0;
    const watching = await backend.watch!(listener, (grant) => {
      validFor = grant?.validFor ?? 0;
    });
    await backend.release(holder);
    await until('it has mail', () => validFor > 0);
    expect(validFor).toBeGreaterThan(0.9 * 40_000);
    expect(await ttlOf('stages')).toBe(40);
    await watching[Symbol.asyncDispose]();
    await backend.release(listener);
    expect(await backend.attempt(asker)).toMatchObject({ granted: true, validFor: expect.any(Number) });
    expect(await ttlOf('stages')).toBe(40);
    await backend.release(asker);
  });

  test('a waiter of long leases keeps a place of six seconds', async () => {
    const [holder, waiter] = [claimOf('place', { ttl: 2_000 }), claimOf('place', { ttl: 40_000 })];
    await backend.attempt(holder);
    await backend.attempt(waiter);
    await backend.release(holder);
    expect(await ttlOf('place')).toBe(6);
    await backend.release(waiter);
  });

  test('a lease that is over, and that etcd has not removed yet, has no time remaining', async () => {
    await backend.attempt(claimOf('ends', { ttl: 2_000 }));
    let end = Number.POSITIVE_INFINITY;
    for (;;) {
      const began = systemClock.now();
      const [entry] = await listOf(backend.inspect!('ends'));
      if (!entry) break;
      // etcd tells whole seconds: two answers about one end differ by a second at most
      if (entry.remaining > 0) expect(began + entry.remaining, 'its end, as told').toBeLessThanOrEqual(end + 1_000);
      end = Math.min(end, systemClock.now() + entry.remaining);
    }
    expect(end, 'the claim was seen').toBeLessThan(Number.POSITIVE_INFINITY);
  });

  /** ms that etcd gives the head of the line, in full seconds, rounded up. */
  async function remaining(key: string): Promise<number> {
    for await (const standing of backend.inspect!(key)) return standing.remaining;
    throw new Error(`nobody stands in the line of ${key}`);
  }

  test('a renewal to another ttl lasts all of it, and so does a hold that has to outlast its process', async () => {
    const [earlier, lingering] = [1, 2].map(() => claimOf('earlier', { ttl: 100_000 })) as [Claim, Claim];
    await Promise.all([backend.attempt(earlier), backend.attempt(lingering)]);
    await Promise.all([backend.release(earlier), backend.release(lingering)]); // two leases, for the next who want such
    await new Promise((resolve) => setTimeout(resolve, 2_200)); // not kept alive meanwhile
    const hold = claimOf('renewed', { ttl: 20_000 });
    await backend.attempt(hold);
    await backend.renew([{ ...hold, ttl: 100_000 }]);
    expect(await remaining('renewed')).toBe(100_000);
    const job = claimOf('job', { ttl: 100_000, lingers: true });
    await backend.attempt(job);
    expect(await remaining('job')).toBe(100_000);
    await Promise.all([backend.release(hold), backend.release(job)]);
  });

  test('are renewed some at a time, however many there are, and none twice or not at all', async () => {
    const opened = open({ endpoints: endpoint(server), timeout: '30s' });
    const { client } = opened;
    const call = client.call.bind(client);
    const renewed: bigint[] = [];
    let [underWay, most] = [0, 0];
    client.call = async (method, message, ms) => {
      if (method.path !== KEEP_ALIVE.path) return call(method, message, ms);
      renewed.push((message as object as { id: bigint }).id);
      most = Math.max(most, ++underWay);
      return call(method, message, ms).finally(() => underWay--);
    };
    const crowd = new Etcd(opened);
    const claims = Array.from({ length: 2_500 }, (_, number) =>
      claimOf(`crowd ${number}`, { ttl: 600_000, within: 60_000 }),
    );
    const calls = Array.from({ length: 5 }, (_, at) => claims.slice(at * 500, (at + 1) * 500));
    for (const call of calls) await Promise.all(call.map((claim) => crowd.attempt(claim)));
    const renewals = (await Promise.all(calls.map((call) => crowd.renew(call)))).flat();
    for (const call of calls) await Promise.all(call.map((claim) => crowd.release(claim)));
    await crowd.close();
    expect(renewals).toEqual(claims.map(() => ({ validFor: expect.any(Number) })));
    expect(new Set(renewed).size).toBe(claims.length);
    expect(renewed).toHaveLength(claims.length);
    expect(most).toBeLessThanOrEqual(1_024);
  });

  test('are renewed also where the servers take few operations at a time', async () => {
    await using small = await startEtcd({ 'max-txn-ops': '8' });
    const locker = etcd({ endpoints: endpoint(small) });
    const claims = Array.from({ length: 20 }, (_, number) => claimOf(`of many ${number}`));
    for (const claim of claims) await locker.attempt(claim);
    await locker.release(claims[7]!);
    const renewals = await locker.renew(claims);
    await locker.close();
    expect(renewals).toEqual(claims.map((_, at) => (at === 7 ? 'gone' : { validFor: expect.any(Number) })));
  });

  test('a claim given up while its lease, that has died unseen, is replaced leaves nothing', async () => {
    const [earlier, given] = [claimOf('earlier', { ttl: 90_000 }), claimOf('replaced', { ttl: 90_000 })];
    const before = await leases([server]);
    await backend.attempt(earlier);
    const [spare] = (await leases([server])).filter((id) => !before.includes(id));
    await backend.release(earlier);
    await etcdctl([server], 'lease', 'revoke', spare!);
    proxy.delay(150, 'up');
    const unanswered = backend.attempt(given).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 50)); // behind it on the same connection
    await backend.release(given);
    await unanswered;
    await proxy.pass();
    await until('nothing is left of it', async () => (await keys([server])).every((key) => !key.includes('replaced')));
  });

  test('after the machine has slept, a lease from before is not taken for a fresh one', async () => {
    let [asleep, found] = [0, 0];
    const clock: Clock = {
      ...systemClock,
      now: () => systemClock.now() - asleep + found,
      resync() {
        found = asleep;
        return systemClock.now();
      },
    };
    const sleeper = etcd({ endpoints: endpoint(server), clock });
    const [earlier, later] = [claimOf('earlier', { ttl: 4_000 }), claimOf('slept', { ttl: 4_000 })];
    await sleeper.attempt(earlier);
    await sleeper.release(earlier);
    const began = systemClock.now();
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    asleep = systemClock.now() - began;
    const sent = clock.now();
    const { validFor } = (await sleeper.attempt(later)) as Grant;
    const left = sent + validFor - clock.now();
    expect(left, 'ms, as its holder has it').toBeGreaterThan(2_500);
    expect(await remaining('slept'), 'ms, as etcd has it').toBeGreaterThanOrEqual(left);
    await sleeper.release(later);
    await sleeper.close();
  });

  test('a claim given up leaves nothing, also where its message is carried out last and answered first', async () => {
    const opened = open({ endpoints: endpoint(server) });
    const { client } = opened;
    const txn = client.txn.bind(client);
    const [sent, removed, answered] = [1, 2, 3].map(() => Promise.withResolvers<void>()) as [Step, Step, Step];
    client.txn = async (...[request, ms]: Parameters<Client['txn']>) => {
      if (request.success?.[0]?.delete) {
        const answer = await txn(request, ms);
        removed.resolve();
        await answered.promise;
        return answer;
      }
      sent.resolve();
      await removed.promise;
      return txn(request, ms);
    };
    const crossed = new Etcd(opened);
    const given = claimOf('crossed', { ttl: 600_000 });
    const attempt = crossed.attempt(given);
    await sent.promise;
    const release = crossed.release(given);
    await attempt;
    answered.resolve();
    await release;
    await until('nothing is left of it', async () => (await keys([server])).every((key) => !/crossed/.test(key)));
    await crossed.close();
  });

  test('a claim given up before there is a lease for it leaves nothing', async () => {
    const opened = open({ endpoints: endpoint(server) });
    const { client } = opened;
    const call = client.call.bind(client);
    const [asked, released] = [1, 2].map(() => Promise.withResolvers<void>()) as [Step, Step];
    client.call = async (method, ...request) => {
      if (method.path === GRANT.path) {
        asked.resolve();
        await released.promise;
      }
      return call(method, ...request);
    };
    const slow = new Etcd(opened);
    const given = claimOf('early', { ttl: 600_000 });
    const attempt = slow.attempt(given).catch(() => undefined);
    await asked.promise;
    await slow.release(given);
    released.resolve();
    await attempt;
    expect((await keys([server])).filter((key) => key.includes('early'))).toEqual([]);
    await slow.close();
  });

  test('a claim given up while its message is on the way leaves nothing that lives on in the next hold', async () => {
    // So long that the lease stays fresh: then the message is sent at once.
    const [earlier, late, next] = ['earlier', 'late', 'next'].map((key) => claimOf(key, { ttl: 600_000 })) as [
      Claim,
      Claim,
      Claim,
    ];
    await backend.attempt(earlier);
    await backend.release(earlier); // its lease is the one that both of the next would use
    proxy.delay(150, 'up');
    const unanswered = backend.attempt(late).catch(() => undefined);
    await backend.release(late);
    await proxy.pass();
    await backend.attempt(next);
    await unanswered;
    await until('nothing is left of it', async () => (await keys([server])).every((key) => !key.includes('late')));
    expect(await backend.renew([next])).toEqual([{ validFor: expect.any(Number) }]);
    await backend.release(next);
  });
});
