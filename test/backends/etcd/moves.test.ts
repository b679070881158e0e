import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Etcd } from '../../../src/backends/etcd/backend.ts';
import { etcd } from '../../../src/backends/etcd/index.ts';
import { open } from '../../../src/backends/etcd/options.ts';
import type { Client } from '../../../src/backends/etcd/wire/client.ts';
import type { Backend, Grant } from '../../../src/core/contract/backend.ts';
import { startEtcd } from '../../kit/etcd.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf, endpoint, etcdctl, keys } from './etcdctl.ts';

describeOn('etcd', 'a claim that moves from the lease of a place to that of a hold', () => {
  let server: Server;
  let proxies: FaultProxy[];
  let backend: Backend;
  let other: Backend;

  beforeAll(async () => {
    server = await startEtcd();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    proxies = [await startProxy(server.port), await startProxy(server.port)];
    backend = etcd({ endpoints: proxies.map(endpoint), timeout: 500 });
    other = etcd({ endpoints: endpoint(server) });
  });
  afterEach(async () => {
    for (const proxy of proxies) await proxy.pass();
    await backend.close();
    await other.close();
    for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
  });

  /** The lease of the youngest key of a line, and what it was granted, in seconds. */
  async function leaseOf(key: string): Promise<{ id: string; seconds: number }> {
    const youngest = ['--prefix', '--sort-by', 'CREATE', '--order', 'DESCEND', '--limit', '1', '-w', 'json'];
    const stored = await etcdctl([server], 'get', `holdfast/${key}/`, ...youngest);
    const id = BigInt(/"lease":(\d+)/.exec(stored)![1]!).toString(16);
    const seconds = /granted with TTL\((\d+)s\)/.exec(await etcdctl([server], 'lease', 'timetolive', id))?.[1];
    return { id, seconds: Number(seconds) };
  }

  test('keeps its place alive where an answer was lost, too', async () => {
    const [holder, quitter] = [claimOf('adrift'), claimOf('adrift')];
    const waiter = claimOf('adrift', { ttl: 100_000 });
    for (const claim of [holder, quitter]) await other.attempt(claim);
    await backend.attempt(waiter);
    let woken = 0;
    const watching = await backend.watch!(waiter, () => woken++);
    await etcdctl([server], 'get', 'a'); // time enough for the watch to be there
    const lost = proxies[0]!.cutAfter('holdfast/adrift/');
    await other.release(quitter); // it may be the waiter's turn now, so that one takes the lease of a hold
    await lost;
    await until('it is told that something is wrong', () => woken > 0);
    expect((await leaseOf('adrift')).seconds, 'of the place, as far as etcd has it').toBe(100);
    expect(await backend.attempt(waiter)).toMatchObject({ granted: false, ahead: 1 });
    expect((await leaseOf('adrift')).seconds, 'of the place that is kept alive').toBe(6);
    await watching[Symbol.asyncDispose]();
    await backend.release(waiter);
    await other.release(holder);
  });

  test('is not moved by a message that comes late, to a lease that nobody keeps alive', async () => {
    const holder = claimOf('late');
    const waiter = claimOf('late', { ttl: 100_000 });
    await other.attempt(holder);
    await backend.attempt(waiter);
    let woken = 0;
    const watching = await backend.watch!(waiter, () => woken++);
    await etcdctl([server], 'get', 'a'); // time enough for the watch to be there
    proxies[0]!.stall('up');
    await other.release(holder);
    await until('its move has no answer', () => woken > 0);
    const { validFor } = (await backend.attempt(waiter)) as Grant; // over the other member
    expect(validFor).toBeGreaterThan(97_000);
    const { id } = await leaseOf('late');
    await proxies[0]!.pass();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await leaseOf('late')).id, 'the lease that the hold is good for').toBe(id);
    await watching[Symbol.asyncDispose]();
    await backend.release(waiter);
  });

  test('has the lease of a hold also where its turn comes while it moves to that of a place', async () => {
    const holder = claimOf('meanwhile');
    const waiter = claimOf('meanwhile', { ttl: 100_000 });
    await other.attempt(holder);
    proxies[0]!.delay(150, 'up');
    const attempt = backend.attempt(waiter);
    await until(
      'it is in line',
      async () => (await keys([server])).filter((key) => /meanwhile/.test(key)).length === 2,
    );
    await other.release(holder);
    const { validFor } = (await attempt) as Grant;
    expect(validFor).toBeGreaterThan(95_000);
    await backend.release(waiter);
  });

  test('is where it is thought to be, also where the answer to its move is read late', async () => {
    const opened = open({ endpoints: endpoint(server) });
    const { client } = opened;
    const txn = client.txn.bind(client);
    const { promise: told, resolve: tell } = Promise.withResolvers<void>();
    const { promise: read, resolve: readOn } = Promise.withResolvers<void>();
    let moves = -1; // the first one is to the lease of a place
    client.txn = async (...[request, ms]: Parameters<Client['txn']>) => {
      const answer = await txn(request, ms);
      if (request.success?.[0]?.put?.ignoreValue && ++moves === 1) {
        tell();
        await read; // as where two answers of one connection change places
      }
      return answer;
    };
    const late = new Etcd(opened);
    const [holder, waiter] = [claimOf('crossed'), claimOf('crossed', { ttl: 100_000 })];
    await other.attempt(holder);
    await late.attempt(waiter);
    let mail: Grant | undefined;
    await using _ = await late.watch(waiter, (grant) => {
      mail = grant;
    });
    await other.release(holder);
    await told;
    const attempt = late.attempt(waiter);
    await Promise.race([attempt, new Promise((resolve) => setTimeout(resolve, 200))]);
    readOn();
    expect(await attempt).toMatchObject({ granted: true });
    await until('it has mail', () => mail !== undefined);
    expect(await late.renew([waiter])).toEqual([{ validFor: expect.any(Number) }]);
    const { id } = await leaseOf('crossed');
    await late.attempt(claimOf('next', { ttl: 100_000 }));
    expect((await leaseOf('next')).id, 'a lease of its own').not.toBe(id);
    await late.release(waiter);
    await late.close();
  });

  test('is where it is thought to be, when an event and a question of its own tell of its turn at once', async () => {
    const calm = etcd({ endpoints: endpoint(server) }); // no fault here, so no call has to be short
    for (let round = 0; round < 100; round++) {
      const [holder, waiter] = [claimOf('at once'), claimOf('at once', { ttl: 100_000 })];
      await other.attempt(holder);
      await calm.attempt(waiter);
      let mail: Grant | undefined;
      const watching = await calm.watch!(waiter, (grant) => {
        mail = grant;
      });
      const released = other.release(holder);
      let granted = false;
      while (!granted) granted = (await calm.attempt(waiter)).granted;
      await released;
      await until('it has mail', () => mail !== undefined);
      expect(await calm.renew([waiter]), `in round ${round}`).toEqual([{ validFor: expect.any(Number) }]);
      await watching[Symbol.asyncDispose]();
      await calm.release(waiter);
    }
    await calm.close();
  });

  test('to a longer lease, asked for twice at a time, is known to be held by both', async () => {
    const holder = claimOf('twice', { ttl: 2_000 });
    await backend.attempt(holder);
    const longer = { ...holder, ttl: 10_000 };
    const kept = { validFor: expect.any(Number) };
    expect(await Promise.all([backend.renew([longer]), backend.renew([longer])])).toEqual([[kept], [kept]]);
    await backend.release(longer);
  });
});
