import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { file } from '../../../src/backends/file/index.ts';
import { postgres } from '../../../src/backends/postgres/index.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { Database } from '../postgres/database.ts';
import { Fleet } from '../redis/fleet.ts';

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

  const open = async (prefix: string) =>
    quorum([
      await fleet.backend('ioredis', { prefix }),
      await database.open((pool) => postgres(pool, { prefix })),
      file({ path, prefix }),
    ]);

  describeConformance({
    name: 'a quorum of Redis, PostgreSQL and a file',
    open: () => open('one'),
    apart: () => open('apart'),
    timing: { ttl: 1_000, tolerance: 500 },
  });
});
