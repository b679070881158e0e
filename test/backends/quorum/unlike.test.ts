import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcd } from '../../../src/backends/etcd/index.ts';
import { file } from '../../../src/backends/file/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import { postgres } from '../../../src/backends/postgres/index.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { createLocks } from '../../../src/index.ts';
import { startEtcd } from '../../kit/etcd.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { Database } from '../postgres/database.ts';
import { Fleet } from '../redis/fleet.ts';
import { claim } from './nodes.ts';

describeOn(['redis', 'postgres', 'file'], 'engines that are not alike', () => {
  let database: Database;
  let server: Server;
  let fleet: Fleet;
  const folder = temporaryFolder();
  const path = join(folder.path, 'locks.db');

  beforeAll(async () => {
    database = await Database.start();
    server = await startRedis();
    fleet = new Fleet(server.port);
  });
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const open = async (prefix: string) => {
    const backend = quorum([
      await fleet.backend('ioredis', { prefix }),
      await database.open((pool) => postgres(pool, { prefix })),
      file({ path, prefix }),
    ]);
    // The first use of a database takes longer than a quorum waits for a node to say who it is.
    const first = claim({ key: `first/${prefix}`, ttl: 1_000 });
    await until('all nodes were heard', () =>
      backend.attempt(first).then(
        ({ granted }) => granted,
        () => false,
      ),
    );
    await backend.release(first);
    return backend;
  };

  describeConformance({
    name: 'a quorum of Redis, PostgreSQL and a file',
    open: () => open('one'),
    apart: () => open('apart'),
    // A quorum waits a quarter of the lease for a node, and a busy disk may keep the database longer than 250 ms.
    timing: { ttl: 2_000, tolerance: 500 },
  });
});

describeOn('etcd', 'an engine that numbers its grants itself', () => {
  test('is no node of a quorum: that is refused as soon as it is asked for a number, though the others are a majority', async () => {
    await using server = await startEtcd();
    await using locks = createLocks(quorum([etcd({ endpoints: new URL(server.url).host }), memory(), memory()]));
    const cycle = async () => (await locks.mutex('a').acquire({ wait: '2s' })).release();
    await cycle(); // asks for no number yet
    await cycle().catch(() => {}); // the others may be quicker
    await expect(cycle()).rejects.toMatchObject({ code: 'LOCK_INVALID', message: expect.stringContaining('(etcd)') });
  });
});
