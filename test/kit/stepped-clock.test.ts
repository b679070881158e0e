import { createConnection, type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createPersistent, exists, OPEN } from '../../src/backends/zookeeper/wire/operations.ts';
import { ZooKeeperSession } from '../../src/backends/zookeeper/wire/session.ts';
import { systemClock } from '../../src/core/contract/clock.ts';
import { startEtcd } from './etcd.ts';
import { startMariadb } from './mariadb.ts';
import { exchange } from './net.ts';
import { startPostgres } from './postgres.ts';
import { askRedis, startRedis } from './redis.ts';
import type { Part } from './selection.ts';
import type { Server } from './server.ts';
import { steppedClock } from './stepped-clock.ts';
import { describeOn } from './suite.ts';
import { startZookeeper } from './zookeeper.ts';

interface Told {
  start(): Promise<Server>;
  /** What the server says that its clock shows, ms since 1970. */
  now(server: Server): Promise<number>;
}

const SERVERS: Readonly<Partial<Record<Part, Told>>> = {
  redis: {
    start: () => startRedis(),
    now: async ({ port }) => Number((await askRedis(port, 'TIME')).split('\r\n')[2]) * 1_000,
  },
  mysql: {
    start: () => startMariadb(),
    async now({ url }) {
      const connection = await createConnection(url);
      const [[row]] = await connection.query<RowDataPacket[]>('SELECT UNIX_TIMESTAMP(SYSDATE(6)) AS now');
      await connection.end();
      return Number(row!.now) * 1_000;
    },
  },
  postgres: {
    start: () => startPostgres(),
    async now({ url }) {
      const client = new pg.Client(url);
      await client.connect();
      const { rows } = await client.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now');
      await client.end();
      return Number(rows[0].now);
    },
  },
  etcd: {
    start: () => startEtcd(),
    now: async ({ port }) =>
      Date.parse(/^Date: (.*)$/m.exec(await exchange(port, 'GET /health HTTP/1.0\r\n\r\n'))![1]!),
  },
  zookeeper: {
    start: () => startZookeeper(),
    async now(server) {
      const nothing = { onConnection() {}, onExpiry() {}, doubtful() {} };
      const session = new ZooKeeperSession({ servers: [server], timeout: 10_000, clock: systemClock }, nothing);
      const connection = await session.connection(20_000);
      const path = await connection.request(createPersistent(`/${systemClock.id()}`, Buffer.of(), OPEN));
      const stat = await connection.request(exists(path));
      await session.close();
      return stat.mtime;
    },
  },
};

for (const [part, { start, now }] of Object.entries(SERVERS)) {
  describeOn([part as Part, 'preload'], `the clock of ${part}`, () => {
    test('is set back and forward, and stays so when its server is started again', async () => {
      using clock = await steppedClock();
      await using server = await clock.under(start);
      for (const ms of [-600_000, 1_200_000]) {
        clock.step(ms);
        expect(Math.abs((await now(server)) - clock.now()), `ms, after a step of ${ms} ms`).toBeLessThan(3_000);
      }
      await server.restart();
      expect(Math.abs((await now(server)) - clock.now()), 'ms, after a restart').toBeLessThan(3_000);
    }, 60_000);
  });
}
