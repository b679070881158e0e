import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcd } from '../../../src/backends/etcd/index.ts';
import type { Backend, Claim } from '../../../src/core/contract/backend.ts';
import { startEtcd } from '../../kit/etcd.ts';
import { IDLE_LINES, IdleLine } from '../../kit/idle-line.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { claimOf, endpoint } from './etcdctl.ts';

/** Of a hold: a place has six seconds. ms. */
const TTL = 60_000;

describeOn('etcd', 'waiters on etcd with nothing to do', () => {
  let server: Server;
  let proxy: FaultProxy;
  let backend: Backend;
  beforeAll(async () => {
    server = await startEtcd();
    proxy = await startProxy(server.port);
    backend = etcd({ endpoints: `${proxy.host}:${proxy.port}` });
  }, 60_000);
  afterAll(async () => {
    await backend?.close();
    await proxy?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  test.for(IDLE_LINES)('cost the same each, however many %s stand in line', async (kind) => {
    await using few = await IdleLine.of(10, backend, proxy, kind, TTL);
    await using many = await IdleLine.of(100, backend, proxy, kind, TTL);
    const [one, of, another] = [await few.signsOfLife(), await many.signsOfLife(), await many.signsOfLife()];
    expect(of, 'bytes for each of a hundred').toBeLessThan(1.3 * one);
    expect(another, 'bytes for each of a hundred, again').toBeLessThan(1.3 * one);
  });

  // The lease of a hold is that of its place, or another one.
  test.for([
    50_000, 200_000,
  ])('join a long queue and are served for as many bytes as in a short one: ttl %i', async (ttl) => {
    const others = etcd({ endpoints: endpoint(server) });
    const passed = (): number => proxy.passed.up + proxy.passed.down;
    const costs: { joining: number; turn: number }[] = [];
    for (const length of [40, 400]) {
      const claim = (): Claim => claimOf(`${ttl}: ${length}`, { ttl, placeTtl: 120_000 });
      const holder = claim();
      expect(await others.attempt(holder)).toMatchObject({ granted: true });
      const next = claim();
      await backend.attempt(next);
      const told = Promise.withResolvers<unknown>();
      await using _watch = await backend.watch!(next, told.resolve);
      for (let at = 0; at < length; at += 20)
        await Promise.all(Array.from({ length: 20 }, () => others.attempt(claim())));
      const before = passed();
      expect(await backend.attempt(claim())).toMatchObject({ granted: false, ahead: length + 2 });
      const joined = passed();
      await others.release(holder);
      expect(await told.promise).toMatchObject({ granted: true });
      costs.push({ joining: joined - before, turn: passed() - joined });
    }
    await others.close();
    const [short, long] = costs as [(typeof costs)[0], (typeof costs)[0]];
    expect(long.joining, 'bytes to join').toBeLessThan(1.5 * short.joining);
    expect(long.turn, 'bytes for its turn').toBeLessThan(1.5 * short.turn);
  });
});
