import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Etcd } from '../../../src/backends/etcd/backend.ts';
import { etcd } from '../../../src/backends/etcd/index.ts';
import { open } from '../../../src/backends/etcd/options.ts';
import { GrpcError, STATUS } from '../../../src/backends/etcd/wire/grpc.ts';
import { KEEP_ALIVE } from '../../../src/backends/etcd/wire/messages.ts';
import { SHARED } from '../../../src/core/contract/admission.ts';
import type { Attempt, Backend, Claim, Grant } from '../../../src/core/contract/backend.ts';
import { startEtcd } from '../../kit/etcd.ts';
import { exchange } from '../../kit/net.ts';
import { startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf, endpoint, etcdctl } from './etcdctl.ts';

/** A claim that waits as core does, and counts what it hears. */
class Waiter {
  readonly claim: Claim;
  readonly backend: Backend;
  wakes = 0;
  grant: Grant | undefined;
  #watch: AsyncDisposable | undefined;

  constructor(backend: Backend, claim: Claim) {
    this.backend = backend;
    this.claim = claim;
  }

  async joins(): Promise<Attempt> {
    const attempt = await this.backend.attempt(this.claim);
    if (attempt.granted) this.grant = attempt;
    return attempt;
  }

  async listens(): Promise<void> {
    this.#watch = await this.backend.watch!(this.claim, (grant) => {
      this.wakes++;
      this.grant ??= grant;
    });
  }

  async leaves(): Promise<void> {
    await this.#watch?.[Symbol.asyncDispose]();
    await this.backend.release(this.claim);
  }
}

describeOn('etcd', 'waiting on etcd', () => {
  let server: Server;
  let backends: Backend[];
  let last = 0;

  beforeAll(async () => {
    server = await startEtcd();
    backends = [1, 2, 3].map(() => etcd({ endpoints: endpoint(server) }));
  });
  afterAll(async () => {
    for (const backend of backends ?? []) await backend.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** Everyone in line, those who are refused with a watch. */
  async function lineUp(demand: (Partial<Claim> | undefined)[], backend?: Backend): Promise<Waiter[]> {
    const key = `line ${++last}`;
    const line = demand.map((wish, index) => new Waiter(backend ?? backends[index % 3]!, claimOf(key, wish)));
    for (const waiter of line) if (!(await waiter.joins()).granted) await waiter.listens();
    return line;
  }

  /** One after the other leaves; each time the next is told, once, and nobody else hears a thing. */
  async function passesOn(line: Waiter[], holders: number): Promise<void> {
    for (const [index, waiter] of line.entries()) {
      await waiter.leaves();
      const next = line[index + holders];
      if (next) await until(`${index + holders} is admitted`, () => next.grant !== undefined);
      const woken = line.filter(({ wakes }) => wakes > 0).length;
      expect(woken, `woken after ${index + 1} left`).toBe(Math.min(index + 1, line.length - holders));
    }
    expect(line.map(({ wakes }) => wakes)).toEqual(line.map((_, index) => (index < holders ? 0 : 1)));
  }

  test('a permit that waits behind a reader is notified of its turn, also when the reader was admitted first', async () => {
    // So short that a hold needs no other lease than a place: its key is not written for that.
    const [permit, reader] = [{ units: 1, capacity: 2 }, SHARED].map((demand) => ({ ...demand, ttl: 5_000 }));
    const line = await lineUp([permit, permit, reader, permit]);
    for (const [index, next] of [2, 3].entries()) {
      await line[index]!.leaves();
      await until(`${next} is admitted`, () => line[next]!.grant !== undefined);
    }
    for (const waiter of line.slice(2)) await waiter.leaves();
  });

  test('a permit gets its turn in time, also when the link is cut as the permit before it notifies it', async () => {
    const opened = open({ endpoints: endpoint(server) });
    const { client } = opened;
    const txn = client.txn.bind(client);
    let cut = false;
    client.txn = async (...request) => {
      if (cut || !request[0].success?.[0]?.put?.ignoreLease) return txn(...request);
      cut = true;
      throw new GrpcError(STATUS.unavailable, 'the connection was cut before the answer');
    };
    const [all, one] = [2, 1].map((units) => ({ units, capacity: 2, ttl: 5_000 }));
    const [holder] = await lineUp([all]);
    const { key } = holder!.claim;
    const [first, second] = [
      new Waiter(new Etcd(opened), claimOf(key, one)),
      new Waiter(backends[0]!, claimOf(key, one)),
    ];
    for (const waiter of [first, second]) {
      await waiter.joins();
      await waiter.listens();
    }
    await holder!.leaves();
    await until('the first permit is admitted', () => first.grant !== undefined && cut);
    await until('the second permit is admitted', async () => (await second.joins()).granted, 2_000);
    for (const waiter of [first, second]) await waiter.leaves();
    await first.backend.close();
  });

  test('a release wakes one of many waiters, and only that one', async () => {
    await passesOn(await lineUp(Array.from({ length: 9 }, () => undefined)), 1);
  });

  test('a permit that becomes free wakes one of many waiters, and only that one', async () => {
    await passesOn(await lineUp(Array.from({ length: 8 }, () => ({ units: 1, capacity: 3 }))), 3);
  });

  test('permits that become free together are all taken, one waiter waking the next', async () => {
    const line = await lineUp([
      { units: 2, capacity: 2 },
      ...Array.from({ length: 4 }, () => ({ units: 1, capacity: 2 })),
    ]);
    await line[0]!.leaves();
    await until('two are admitted', () => line[1]!.grant !== undefined && line[2]!.grant !== undefined);
    expect(line.slice(3).map(({ wakes }) => wakes)).toEqual([0, 0]);
    await line[2]!.leaves(); // not the first of the holders
    await until('the next is admitted', () => line[3]!.grant !== undefined);
    expect(line[4]!.wakes).toBe(0);
    for (const waiter of [line[1]!, line[3]!, line[4]!]) await waiter.leaves();
  });

  test('permits that joined at once and wait write nothing while no hold ends', async () => {
    const permit = { units: 1, capacity: 2 };
    const holders = await lineUp([permit, permit]);
    const { key } = holders[0]!.claim;
    const waiters = Array.from({ length: 20 }, (_, at) => new Waiter(backends[at % 3]!, claimOf(key, permit)));
    const signsOfLife = () => Promise.all(waiters.map((waiter) => waiter.joins()));
    await signsOfLife(); // each moves its key to the lease of a place, which the permit behind it sees
    const { client } = open({ endpoints: endpoint(server) });
    const revision = async () => (await client.range({ key: Buffer.from('a') })).header!.revision;
    const before = await revision();
    for (const waiter of waiters) await waiter.listens();
    for (let round = 0; round < 3; round++) {
      await sleep(500);
      await signsOfLife();
    }
    expect((await revision()) - before, 'writes while no hold ends').toBe(0n);
    for (const waiter of [...waiters.toReversed(), ...holders]) await waiter.leaves();
    client.close();
  });

  test('of a writer, a reader and a reader, the second reader is notified when the writer leaves, too', async () => {
    const [writer, first, second] = await lineUp([undefined, SHARED, SHARED]);
    await writer!.leaves();
    await until('both readers are admitted', () => first!.grant !== undefined && second!.grant !== undefined);
    await first!.leaves();
    await second!.leaves();
  });

  test('a waiter behind one that gives up goes on waiting, unheard, for the one ahead of it', async () => {
    const [holder, quitter, waiter] = await lineUp([undefined, undefined, undefined]);
    await quitter!.leaves();
    await etcdctl([server], 'get', 'a'); // time enough for an event
    expect(waiter!.wakes).toBe(0);
    await holder!.leaves();
    await until('the last is admitted', () => waiter!.grant !== undefined);
    await waiter!.leaves();
  });

  test('a watch that begins before a compaction starts again after it', async () => {
    const key = 'compacted';
    const holder = new Waiter(backends[0]!, claimOf(key));
    const waiter = new Waiter(backends[1]!, claimOf(key));
    await holder.joins();
    await waiter.joins();
    for (const value of ['1', '2', '3']) await etcdctl([server], 'put', 'elsewhere', value);
    const status = JSON.parse(await etcdctl([server], 'endpoint', 'status', '-w', 'json'));
    await etcdctl([server], 'compact', String(status[0].Status.header.revision));
    await waiter.listens(); // from a revision that is no longer there
    await until('the watch is armed again', async () => (await etcdctl([server], 'get', 'a')) === '');
    await holder.leaves();
    await until('the waiter is admitted', () => waiter.grant !== undefined);
    await waiter.leaves();
  });

  test('all watches of a process share one stream, whichever of them end', async () => {
    const streams = async (): Promise<number> => {
      const metrics = await exchange(server.port, 'GET /metrics HTTP/1.0\r\n\r\n');
      return Number(/^grpc_server_started_total\{grpc_method="Watch",.*\} (\d+)/m.exec(metrics)?.[1]);
    };
    const before = await streams();
    const backend = etcd({ endpoints: endpoint(server) });
    const lines = [];
    for (let n = 0; n < 3; n++) lines.push(await lineUp([undefined, undefined, undefined], backend));
    await lines[0]![2]!.leaves(); // its watch is ended by us
    for (const [holder, waiter] of lines as [Waiter, Waiter, Waiter][]) {
      await holder.leaves();
      await until('the next has mail', () => waiter.grant !== undefined); // its watch has told
      await waiter.leaves();
    }
    for (const [, , last] of lines.slice(1) as [Waiter, Waiter, Waiter][]) {
      await until('the last has mail', () => last.grant !== undefined);
      await last.leaves();
    }
    expect((await streams()) - before).toBe(1);
    await backend.close();
  });

  test('who lost its place and took another is woken there too', async () => {
    const [holder, waiter] = await lineUp([undefined, undefined]);
    const line = `holdfast/${encodeURIComponent(holder!.claim.key)}/`;
    const names = (await etcdctl([server], 'get', line, '--prefix', '--keys-only', '--sort-by', 'CREATE')).split('\n');
    await etcdctl([server], 'del', names.filter(Boolean).at(-1)!);
    expect(await waiter!.joins()).toMatchObject({ granted: false, ahead: 1 });
    await holder!.leaves();
    await until('it is admitted', () => waiter!.grant !== undefined);
    await waiter!.leaves();
  });

  test('a renewal confirms no place that waits, when the hold was removed during an attempt of it', async () => {
    const opened = open({ endpoints: endpoint(server) });
    const { client } = opened;
    const txn = client.txn.bind(client);
    const own = new Etcd(opened);
    const [holder] = await lineUp([undefined]);
    const { key } = holder!.claim;
    const [waiter, next] = [new Waiter(own, claimOf(key)), new Waiter(backends[1]!, claimOf(key))];
    await waiter.joins();
    await waiter.listens();
    client.txn = async (...request) => {
      if (!request[0].success?.every(({ range }) => range?.keysOnly)) return txn(...request);
      client.txn = txn; // an attempt looks at its place and at what it waits for: that is slow, this time
      await holder!.leaves();
      await until('a notification grants the claim', () => waiter.grant !== undefined);
      await backends[2]!.evict!(key, waiter.grant!.token);
      expect(await next.joins()).toMatchObject({ granted: true });
      return txn(...request);
    };
    expect(await waiter.joins()).toMatchObject({ granted: false });
    expect(await own.renew([waiter.claim])).toEqual(['gone']);
    const line = `holdfast/${encodeURIComponent(key)}/`;
    const names = async () =>
      (await etcdctl([server], 'get', line, '--prefix', '--keys-only')).split('\n').filter(Boolean);
    await until('only the other hold is there', async () => (await names()).length === 1);
    await waiter.leaves();
    await next.leaves();
    await own.close();
  });

  test('an attempt that is answered after a notification has granted its claim is granted, too', async () => {
    const opened = open({ endpoints: endpoint(server) });
    const { client } = opened;
    const [txn, call] = [client.txn.bind(client), client.call.bind(client)];
    const own = new Etcd(opened);
    const [holder] = await lineUp([undefined]);
    const waiter = new Waiter(own, claimOf(holder!.claim.key));
    await waiter.joins();
    await waiter.listens();
    const { promise: refused, resolve: refuse } = Promise.withResolvers<void>();
    client.txn = (...request) => txn(...request).finally(refuse); // the attempt looks at its place and at what it waits for
    client.call = async (...request) => {
      if ((request[0] as unknown) !== KEEP_ALIVE) return call(...request);
      client.call = call;
      await refused;
      await holder!.leaves();
      await until('a notification grants the claim', () => waiter.grant !== undefined);
      return call(...request);
    };
    expect(await own.attempt(waiter.claim)).toMatchObject({ granted: true, token: waiter.grant!.token });
    expect(client.call, 'the keep-alive of the attempt was slow').toBe(call);
    await waiter.leaves();
    await own.close();
  });

  test('a connection that breaks while waiting costs neither the place nor the wake', async () => {
    await using proxy = await startProxy(server.port);
    const remote = etcd({ endpoints: endpoint(proxy) });
    const [holder] = await lineUp([undefined]);
    const { key } = holder!.claim;
    const waiter = new Waiter(remote, claimOf(key));
    const rival = new Waiter(backends[0]!, claimOf(key));
    await waiter.joins();
    await waiter.listens();
    await rival.joins();
    const before = proxy.connections;
    proxy.cut();
    await until('it is connected again', () => proxy.connections > before);
    await holder!.leaves();
    await until('the waiter is admitted', () => waiter.grant !== undefined);
    expect((await rival.joins()).granted).toBe(false);
    await waiter.leaves();
    await rival.leaves();
    await remote.close();
  });
});
