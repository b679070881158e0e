import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { createPool, type Pool, type PoolOptions } from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mysql, mysqlNamed } from '../../../src/backends/mysql/index.ts';
import { type Galera, startGalera } from '../../kit/galera.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf } from './claims.ts';

describeOn(['mysql', 'galera'], 'a Galera cluster', () => {
  let galera: Galera;
  const pools: Pool[] = [];
  const pool = (member: number, options: PoolOptions = {}): Pool => {
    const made = createPool({ uri: galera.servers[member]!.url, ...options });
    pools.push(made);
    return made;
  };
  beforeAll(async () => {
    galera = await startGalera();
  }, 60_000);
  afterAll(async () => {
    await Promise.all(pools.map((made) => made.end().catch(() => {})));
    await galera?.[Symbol.asyncDispose]();
  });

  test('check() says so, and gives no advice that does not help', async () => {
    const backend = mysql(pool(0), { sweep: 0 });
    const found = await backend.check();
    expect(found.map(({ code }) => code)).toEqual(['galera']);
    expect(JSON.stringify(found)).toMatch(/one and the same node/);
    expect(JSON.stringify(found)).not.toMatch(/wsrep_sync_wait/);
    await backend.close();
  });

  test('named locks, which are of one node, are refused', async () => {
    const backend = mysqlNamed(pool(0));
    await expect(backend.attempt(claimOf('a'))).rejects.toMatchObject({ code: 'LOCK_UNSUPPORTED' });
    await backend.close();
  });

  test('a pool whose connections lead to two nodes is a danger', async () => {
    let turn = 0;
    const balancer = createServer((socket) => {
      const { port } = galera.servers[turn++ % galera.servers.length]!;
      const target = connect(port, '127.0.0.1');
      for (const [from, to] of [
        [socket, target],
        [target, socket],
      ] as const) {
        from.pipe(to);
        from.on('error', () => to.destroy());
        from.on('close', () => to.destroy());
      }
    });
    await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
    const backend = mysql(pool(0, { port: (balancer.address() as AddressInfo).port }), { sweep: 0 });
    const found = await backend.check();
    expect(found).toContainEqual(expect.objectContaining({ severity: 'danger', code: 'several-servers' }));
    await backend.close();
    await Promise.all(pools.splice(0).map((made) => made.end()));
    balancer.close();
  });

  test('a hold taken on one node is kept by the other when that one dies, with a higher token after it', async () => {
    const [first, second] = [mysql(pool(0), { sweep: 0 }), mysql(pool(1), { sweep: 0 })];
    const claim = claimOf('kept', { ttl: 3_000 });
    const grant = await first.attempt(claim);
    if (!grant.granted) throw new Error('it is free');
    const other = claimOf('kept', { queue: false });
    const standing = async () => {
      for await (const found of second.inspect!('kept')) return found.token;
    };
    await until('the other node has the row', async () => (await standing()) === grant.token);
    await first.close();
    await galera.servers[0].stop(); // an orderly end: of two, the one that is left goes on
    expect(await second.attempt(other)).toMatchObject({ granted: false });
    const next = claimOf('kept');
    await until('it expires', async () => {
      const answer = await second.attempt(next);
      if (answer.granted) expect(answer.token).toBeGreaterThan(grant.token);
      return answer.granted;
    });
    await second.close();
  });
});
