import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { etcd } from '../../../src/backends/etcd/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { startEtcd } from '../../kit/etcd.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { claimOf, endpoint, etcdctl, keys, leases } from './etcdctl.ts';

describeOn('etcd', 'a bad link to etcd', () => {
  let server: Server;
  let proxy: FaultProxy;
  let backend: Backend;
  let other: Backend;

  beforeAll(async () => {
    server = await startEtcd();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    proxy = await startProxy(server.port);
    backend = etcd({ endpoints: endpoint(proxy), timeout: 500 });
    other = etcd({ endpoints: endpoint(server) });
    await backend.attempt(claimOf('first')); // which asks for the term of the leader, too
  });
  afterEach(async () => {
    await proxy.pass();
    await backend.close();
    await other.close();
    await proxy[Symbol.asyncDispose]();
  });

  test('a lost request is unknown, and harmless to repeat', async () => {
    const claim = claimOf('lost-request');
    const lost = proxy.cutBefore('lost-request');
    await expect(backend.attempt(claim)).rejects.toMatchObject({ name: 'GrpcError' });
    await lost;
    expect(await backend.attempt(claim)).toMatchObject({ granted: true });
    expect(await backend.release(claim)).toEqual({ freed: true });
  });

  test('a lost reply to an attempt is unknown; repeated, it brings the token that was given then', async () => {
    const claim = claimOf('lost-reply');
    const lost = proxy.cutAfter('lost-reply');
    await expect(backend.attempt(claim)).rejects.toMatchObject({ name: 'GrpcError' });
    await lost;
    const rival = claimOf('lost-reply');
    expect(await other.attempt(rival)).toMatchObject({ granted: false, ahead: 1 });
    const attempt = await backend.attempt(claim);
    const oldest = ['get', 'holdfast/lost-reply/', '--prefix', '--sort-by', 'CREATE', '--limit', '1', '-w', 'json'];
    const stored = JSON.parse(await etcdctl([server], ...oldest));
    expect(attempt).toMatchObject({ granted: true, token: BigInt(stored.kvs[0].create_revision) });
    await backend.release(claim);
    await other.release(rival);
  });

  test('given up after a lost reply, it leaves neither key nor lease', async () => {
    const before = await leases([server]);
    const claim = claimOf('given-up', { ttl: 60_000 });
    const lost = proxy.cutAfter('given-up');
    await expect(backend.attempt(claim)).rejects.toThrow();
    await lost;
    expect(await backend.release(claim)).toEqual({ freed: true });
    await until('the lease is revoked', async () => (await leases([server])).length === before.length);
    expect((await keys([server])).filter((key) => key.includes('given-up'))).toEqual([]);
  });

  test('a lost reply to a release is unknown; the key is free, and a repetition robs nobody', async () => {
    const claim = claimOf('lost-release');
    await backend.attempt(claim);
    const lost = proxy.cutAfter('lost-release');
    await expect(backend.release(claim)).rejects.toThrow();
    await lost;
    const next = claimOf('lost-release');
    expect(await other.attempt(next)).toMatchObject({ granted: true });
    expect(await backend.release(claim)).toEqual({ freed: false });
    expect(await other.renew([next])).toEqual([{ validFor: expect.any(Number) }]);
    await other.release(next);
  });

  test('a link that swallows everything is noticed in bounded time, and nothing is left once it is back', async () => {
    const claim = claimOf('swallowed');
    await backend.attempt(claimOf('warm', { queue: false }));
    proxy.blackhole();
    const told = settleWithin('that it was not answered', backend.attempt(claim), 3 * 500);
    await expect(told).rejects.toMatchObject({ name: 'GrpcError' });
    await proxy.pass();
    expect(await backend.attempt(claim)).toMatchObject({ granted: true });
    await backend.release(claim);
    expect((await keys([server])).filter((key) => key.includes('swallowed'))).toEqual([]);
  });

  test('an attempt whose answer comes too late is a refusal for good', async () => {
    const claim = claimOf('too-late', { within: 300 });
    const earlier = claimOf('earlier'); // its lease is there for the next
    await backend.attempt(earlier);
    await backend.release(earlier);
    proxy.stall('down');
    const attempt = backend.attempt(claim);
    await until('it takes back what it sent, over another connection', () => proxy.connections > 1);
    await proxy.pass();
    expect(await attempt).toEqual({ granted: false, late: true });
    expect((await keys([server])).filter((key) => key.includes('too-late'))).toEqual([]);
  });

  test('a hold renewed over a link that is cut again and again is never reported gone', async () => {
    const claim = claimOf('flaky', { ttl: 2_000 });
    const { token } = (await backend.attempt(claim)) as { token: bigint };
    let renewed = 0;
    for (let round = 0; round < 10; round++) {
      if (round % 2 === 1) proxy.cut();
      const [renewal] = await backend.renew([claim]);
      expect(renewal).not.toBe('gone');
      if (renewal !== 'unknown') renewed++;
    }
    expect(renewed).toBeGreaterThanOrEqual(5);
    expect(await backend.attempt(claim)).toMatchObject({ granted: true, token });
    await backend.release(claim);
  });
});
