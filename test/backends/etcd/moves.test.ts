import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Etcd } from '../../../src/backends/etcd/backend.ts';
import { etcd } from '../../../src/backends/etcd/index.ts';
import { open } from '../../../src/backends/etcd/options.ts';
import { OwnClaims } from '../../../src/backends/etcd/own-claims.ts';
import type { Client } from '../../../src/backends/etcd/wire/client.ts';
import { GrpcError, STATUS } from '../../../src/backends/etcd/wire/grpc.ts';
import { KEEP_ALIVE, REVOKE } from '../../../src/backends/etcd/wire/messages.ts';
import { type Attempt, type Backend, type Grant, PLACE_TTL_MS } from '../../../src/core/contract/backend.ts';
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
    let mails = 0;
    for (let round = 0; round < 100; round++) {
      const [holder, waiter] = [claimOf('at once'), claimOf('at once', { ttl: 100_000 })];
      await other.attempt(holder);
      await calm.attempt(waiter);
      let woken = 0;
      const watching = await calm.watch!(waiter, (grant) => {
        woken++;
        if (grant) mails++;
      });
      const released = other.release(holder);
      let granted = false;
      while (!granted) granted = (await calm.attempt(waiter)).granted;
      await released;
      // While the attempt moves the key, or after it has done so, the notification has no grant.
      await until('it is notified', () => woken > 0);
      expect(await calm.renew([waiter]), `in round ${round}`).toEqual([{ validFor: expect.any(Number) }]);
      await watching[Symbol.asyncDispose]();
      await calm.release(waiter);
    }
    expect(mails, 'notifications with a grant').toBeGreaterThan(0);
    await calm.close();
  });

  describe('stays under the lease that a notified grant counts on', () => {
    /** The waiter is granted while its attempt stands still. From then on no move is answered. */
    async function grantedDuring(attempt: 'takes-lease' | 'has-read-queue'): Promise<Attempt> {
      const opened = open({ endpoints: endpoint(server) });
      const { client, clock } = opened;
      const own = new OwnClaims(opened);
      const [txn, range, take] = [client.txn.bind(client), client.range.bind(client), own.leases.take.bind(own.leases)];
      const { promise: paused, resolve: pause } = Promise.withResolvers<void>();
      const { promise: granted, resolve: wake } = Promise.withResolvers<unknown>();
      let moves = 0;
      let steps: typeof attempt | undefined;
      const passes = async <T>(step: typeof attempt, answer: T): Promise<T> => {
        if (steps !== step) return answer;
        steps = undefined;
        pause();
        await granted;
        return answer;
      };
      client.range = async (...request) => passes('has-read-queue', await range(...request));
      own.leases.take = async (...lease) => passes('takes-lease', await take(...lease));
      client.txn = async (...request) => {
        const answer = await txn(...request);
        if (request[0].success?.[0]?.put?.ignoreValue && ++moves > 2) throw new Error('the link is cut');
        return answer;
      };
      const [holder, quitter] = [claimOf(attempt), claimOf(attempt)];
      const waiter = claimOf(attempt, { ttl: 100_000 });
      for (const claim of [holder, quitter]) await other.attempt(claim);
      await own.attempt(waiter, clock.now(), 5_000);
      await using _ = await own.waiters.watch(waiter, own.known.get(waiter.id), (grant) => grant && wake(grant));
      await other.release(quitter);
      await until('it is under the lease of a hold', () => moves === 2);
      steps = attempt;
      const answer = own.attempt(waiter, clock.now(), 5_000);
      await paused;
      await other.release(holder);
      const attempted = await answer;
      expect((await leaseOf(attempt)).seconds, 'seconds of the lease that the grant counts on').toBe(100);
      await own.release(waiter, 5_000);
      await own.close();
      client.close();
      return attempted;
    }

    test('though an attempt that was refused before asks for the lease of a place', async () => {
      await grantedDuring('takes-lease');
    });

    test('though an attempt has read the queue as it was before', async () => {
      expect(await grantedDuring('has-read-queue')).toMatchObject({ granted: true });
    });
  });

  test('stays under the lease that the grant of an attempt counts on, though a notification has asked for another move', async () => {
    const key = 'answered';
    const opened = open({ endpoints: endpoint(server) });
    const { client, clock } = opened;
    const own = new OwnClaims(opened);
    const [txn, range, take] = [client.txn.bind(client), client.range.bind(client), own.leases.take.bind(own.leases)];
    const to = own.moves.to.bind(own.moves);
    const [attempting, looking, moving, asked] = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
    let [staged, takes, moves] = [false, 0, 0];
    const asking: Promise<unknown>[] = [];
    own.leases.take = async (...lease) => {
      const taken = await take(...lease);
      if (!staged) return taken;
      takes++;
      if (takes === 1) attempting!.resolve(); // the lease of a place, for an attempt that was refused
      if (takes === 1) await looking!.promise;
      if (takes === 2) moving!.resolve(); // that of a hold, since the attempt is admitted now
      if (takes === 2) await asked!.promise;
      return taken;
    };
    client.range = async (...request) => {
      const answer = await range(...request);
      if (staged && takes === 1) {
        looking!.resolve();
        await moving!.promise;
      }
      return answer;
    };
    own.moves.to = (...move) => {
      const moved = to(...move);
      if (staged && asking.push(moved) === 3) asked!.resolve();
      return moved;
    };
    client.txn = async (...request) => {
      if (request[0].success?.[0]?.put?.ignoreValue) moves++;
      return txn(...request);
    };
    const [holder, quitter, waiter] = [claimOf(key), claimOf(key), claimOf(key, { ttl: 100_000 })];
    for (const claim of [holder, quitter]) await other.attempt(claim);
    await own.attempt(waiter, clock.now(), 5_000);
    await using _ = await own.waiters.watch(waiter, own.known.get(waiter.id), () => {});
    const before = moves;
    await other.release(quitter);
    await until('it is under the lease of a hold', () => moves > before);
    staged = true;
    const [answer, settled] = [own.attempt(waiter, clock.now(), 5_000), moves];
    await attempting!.promise;
    await other.release(holder);
    expect(await answer).toMatchObject({ granted: true });
    await Promise.all(asking);
    expect(moves - settled, 'moves: to the lease of a place, and to the one that the grant counts on').toBe(2);
    staged = false;
    await own.release(waiter, 5_000);
    await own.close();
    client.close();
  });

  test('and gets no answer leaves no late message that ends a later hold', async () => {
    const opened = open({ endpoints: endpoint(server) });
    const { client } = opened;
    const [txn, call] = [client.txn.bind(client), client.call.bind(client)];
    const noAnswer = new GrpcError(STATUS.deadlineExceeded, 'there was no answer');
    const late: (() => Promise<unknown>)[] = [];
    const [holder, waiter] = [claimOf('unanswered'), claimOf('unanswered')];
    let moves = 0;
    client.txn = async (...request) => {
      const isMove = request[0].success?.[0]?.put?.ignoreValue;
      if (isMove && ++moves === 1) await other.release(holder); // so it is admitted when it has the lease of a place
      if (isMove && moves === 2) throw noAnswer;
      return txn(...request);
    };
    client.call = async (...request) => {
      if ((request[0] as unknown) !== REVOKE) return call(...request);
      late.push(() => call(...request));
      throw noAnswer;
    };
    const own = new Etcd(opened);
    await other.attempt(holder);
    await expect(own.attempt(waiter)).rejects.toThrow(noAnswer);
    expect(await own.release(waiter)).toEqual({ freed: true });
    const later = claimOf('later', { ttl: PLACE_TTL_MS }); // a hold as short as a place may take its lease
    expect(await own.attempt(later)).toMatchObject({ granted: true });
    for (const arrive of late) await arrive().catch(() => undefined);
    expect(await own.renew([later]), 'the later hold').toEqual([{ validFor: expect.any(Number) }]);
    client.call = call;
    await own.release(later);
    await own.close();
  });

  test('is not moved by a late message to the lease of a place, when its hold has the lease that the message moves it from', async () => {
    const opened = open({ endpoints: endpoint(server) });
    const { client } = opened;
    const txn = client.txn.bind(client);
    let late: (() => Promise<unknown>) | undefined;
    client.txn = async (...request) => {
      if (late || !request[0].success?.[0]?.put?.ignoreValue) return txn(...request);
      late = () => txn(...request);
      throw new GrpcError(STATUS.deadlineExceeded, 'there was no answer');
    };
    const own = new Etcd(opened);
    const [holder, waiter] = [claimOf('overtaken'), claimOf('overtaken', { ttl: 100_000 })];
    await other.attempt(holder);
    for (const move of ['without an answer', 'repeated']) {
      expect(await own.attempt(waiter), `its move to the lease of a place is ${move}`).toMatchObject({
        granted: false,
      });
    }
    await other.release(holder);
    expect(await own.attempt(waiter)).toMatchObject({ granted: true });
    await late!();
    expect((await leaseOf('overtaken')).seconds, 'seconds of the lease that the hold counts on').toBe(100);
    await own.release(waiter);
    await own.close();
  });

  test('is not put back by a late message to join, under the lease that its hold has left', async () => {
    const opened = open({ endpoints: endpoint(server) });
    const { client } = opened;
    const [txn, call] = [client.txn.bind(client), client.call.bind(client)];
    let late: (() => Promise<unknown>) | undefined;
    let revoked = 0;
    client.txn = async (...request) => {
      if (late || !request[0].success?.some(({ put }) => put?.value)) return txn(...request);
      late = () => txn(...request);
      throw new GrpcError(STATUS.unavailable, 'the connection was cut before the answer');
    };
    client.call = async (...request) => {
      if ((request[0] as unknown) !== REVOKE) return call(...request);
      await late!().catch(() => undefined); // the message was stalled until now
      return call(...request).finally(() => revoked++);
    };
    const own = new Etcd(opened);
    const claim = claimOf('rejoined', { ttl: 100_000 });
    await expect(own.attempt(claim)).rejects.toThrow('cut');
    expect(await own.attempt(claim)).toMatchObject({ granted: true });
    const shorter = { ...claim, ttl: 50_000 };
    const renewed = await own.renew([shorter]);
    await until('its first lease is revoked', () => revoked > 0);
    expect(await other.attempt(claimOf('rejoined')), 'of another claim').toMatchObject({ granted: false, ahead: 1 });
    expect(renewed).toEqual([{ validFor: expect.any(Number) }]);
    client.call = call;
    await own.release(shorter);
    await own.close();
  });

  test('leaves the lease under which a late message has made it, before the grant counts', async () => {
    const opened = open({ endpoints: endpoint(server) });
    const { client } = opened;
    const [txn, call] = [client.txn.bind(client), client.call.bind(client)];
    const [late, revokes]: (() => Promise<unknown>)[][] = [[], []];
    client.txn = async (...request) => {
      if (late!.length > 0 || !request[0].success?.some(({ put }) => put?.value)) return txn(...request);
      late!.push(() => txn(...request));
      throw new GrpcError(STATUS.unavailable, 'the connection was cut before the answer');
    };
    client.call = async (...request) => {
      if ((request[0] as unknown) !== REVOKE) return call(...request);
      revokes!.push(() => call(...request));
      throw new GrpcError(STATUS.unavailable, 'the connection was cut before the answer');
    };
    const own = new Etcd(opened);
    const claim = claimOf('made late', { ttl: 100_000 });
    await expect(own.attempt(claim)).rejects.toThrow('cut');
    expect(await own.attempt({ ...claim, within: 0 })).toEqual({ granted: false, late: true });
    await late![0]!();
    const { token, validFor } = (await own.attempt(claim)) as Grant;
    expect(validFor).toBeGreaterThan(95_000);
    for (const revoke of revokes!) await revoke();
    expect(await own.attempt(claim), 'the same hold').toMatchObject({ granted: true, token });
    expect(await own.renew([claim])).toEqual([{ validFor: expect.any(Number) }]);
    client.call = call;
    expect(await own.release(claim)).toEqual({ freed: true });
    await own.close();
  });

  test('stays when it is notified during an attempt that asks for the lease it was under before', async () => {
    const opened = open({ endpoints: endpoint(server) });
    const { client, clock } = opened;
    const own = new OwnClaims(opened);
    const [txn, keepAlive] = [client.txn.bind(client), own.leases.keepAlive.bind(own.leases)];
    const noAnswer = new GrpcError(STATUS.deadlineExceeded, 'there was no answer');
    let [moves, puts] = [0, 0];
    client.txn = async (...request) => {
      if (request[0].success?.[0]?.put?.ignoreValue && ++moves === 1) throw noAnswer;
      const joined = request[0].success?.some(({ put }) => put?.value) ? ++puts : 0;
      if (joined === 1) throw new GrpcError(STATUS.unavailable, 'the connection was cut before the answer');
      if (joined === 3) throw noAnswer;
      return txn(...request);
    };
    const [holder, waiter] = [claimOf('ended'), claimOf('ended', { ttl: 100_000 })];
    await other.attempt(holder);
    await expect(own.attempt(waiter, clock.now(), 5_000)).rejects.toThrow('cut'); // so its lease is not used again
    await own.attempt(waiter, clock.now(), 5_000); // its move to the lease of a place is not answered
    const { promise: notified, resolve: wake } = Promise.withResolvers<Grant>();
    await using _ = await own.waiters.watch(waiter, own.known.get(waiter.id), (grant) => grant && wake(grant));
    own.leases.keepAlive = async (...lease) => {
      own.leases.keepAlive = keepAlive;
      await other.release(holder);
      await notified;
      await until('the lease is gone', async () => !(await keepAlive({ ...lease[0] })));
      return keepAlive(...lease);
    };
    expect(await own.attempt(waiter, clock.now(), 5_000)).toMatchObject({ granted: true });
    expect((await leaseOf('ended')).seconds, 'seconds of the lease of the hold').toBe(100);
    expect(puts, 'requests to join').toBe(2);
    await own.release(waiter, 5_000);
    await own.close();
    client.close();
  });

  test('is not lost by the word of a server that is behind, and does not know its lease yet', async () => {
    const opened = open({ endpoints: endpoint(server) });
    const { client } = opened;
    const call = client.call.bind(client);
    const own = new Etcd(opened);
    const claim = claimOf('behind');
    expect(await own.attempt(claim)).toMatchObject({ granted: true });
    client.call = (async (...request: Parameters<typeof call>) =>
      (request[0] as unknown) === KEEP_ALIVE ? { id: 0n, ttl: 0n } : call(...request)) as typeof call;
    expect(await own.renew([claim]), 'while the server is behind').toEqual(['unknown']);
    client.call = call;
    expect(await own.renew([claim])).toEqual([{ validFor: expect.any(Number) }]);
    expect(await own.release(claim)).toEqual({ freed: true });
    await own.close();
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
