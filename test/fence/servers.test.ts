import { Redis } from 'ioredis';
import { createPool, type PoolOptions } from 'mysql2/promise';
import pg from 'pg';
import postgresJs from 'postgres';
import { createClient } from 'redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcd } from '../../src/backends/etcd/index.ts';
import {
  type DialectName,
  type EtcdFence,
  etcdFence,
  type Fence,
  fenceColumn,
  fenced,
  redisFence,
  sqlFence,
} from '../../src/fence/index.ts';
import { createLocks } from '../../src/index.ts';
import { rowsOf } from '../../src/transaction/query.ts';
import { endpoint, etcdctl } from '../backends/etcd/etcdctl.ts';
import { startEtcd } from '../kit/etcd.ts';
import { describeOnMysql, MYSQL_KINDS } from '../kit/mysql-kinds.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startRedis } from '../kit/redis.ts';
import type { Part } from '../kit/selection.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';

const FENCED = expect.objectContaining({ code: 'LOCK_FENCED' });
/** Beyond 2^53: a guard that counts in doubles would take the two for one. */
const BIG = 2n ** 60n;

async function keepsTheNewest(open: (resource: string) => Fence): Promise<void> {
  const fence = open('orders');
  await fence.claim(9n);
  await fence.claim(9n);
  await fence.claim(10n); // longer, though "10" sorts before "9"
  await expect(fence.claim(9n)).rejects.toThrow(FENCED);
  await fence.claim(BIG + 1n);
  await expect(open('orders').claim(BIG), 'the mark is shared by all guards of the resource').rejects.toThrow(FENCED);
  await open('other').claim(1n);
  await expect(fence.claim(1 as unknown as bigint)).rejects.toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
}

describeOn('redis', 'a fence in Redis', () => {
  let server: Server;
  let ours: Redis;
  const theirs = { client: undefined as ReturnType<typeof createClient> | undefined };
  beforeAll(async () => {
    server = await startRedis();
    ours = new Redis(server.port, '127.0.0.1');
    theirs.client = createClient({ url: server.url });
    await theirs.client.connect();
  });
  afterAll(async () => {
    ours.disconnect();
    theirs.client?.destroy();
    await server[Symbol.asyncDispose]();
  });

  test('refuses whatever is older than the newest token it saw, over ioredis', () =>
    keepsTheNewest((resource) => redisFence(ours, `ioredis ${resource}`)));
  test('refuses whatever is older than the newest token it saw, over node-redis', () =>
    keepsTheNewest((resource) => redisFence(theirs.client!, `node-redis ${resource}`)));

  test('takes no option for another: a mark under a name that nobody chose guards nothing', () => {
    expect(() => redisFence(ours, 'stock', { mark: 'x' } as object)).toThrow(/"mark" is not one of/);
  });

  test('runs the write in the same step as the check, with its own keys and arguments', async () => {
    const fence = redisFence(ours, 'stock');
    const script = "return redis.call('SET', KEYS[1], ARGV[1] .. '/' .. #KEYS .. '/' .. #ARGV)";
    await fence.write(2n, script, ['count'], ['7']);
    await expect(fence.write(1n, script, ['count'], ['8'])).rejects.toThrow(FENCED);
    expect(await ours.get('count')).toBe('7/1/1');
  });
});

describeOn('etcd', 'a fence in etcd', () => {
  let server: Server;
  const opened: EtcdFence[] = [];
  const open = (resource: string): EtcdFence => {
    const fence = etcdFence({ endpoints: endpoint(server) }, resource);
    opened.push(fence);
    return fence;
  };
  const stored = async (key: string) => (await etcdctl([server], 'get', key, '--print-value-only')).trim();
  beforeAll(async () => {
    server = await startEtcd();
  });
  afterAll(async () => {
    for (const fence of opened) await fence.close();
    await server?.[Symbol.asyncDispose]();
  });

  test('refuses whatever is older than the newest token it saw', () => keepsTheNewest(open));

  test('puts in the same step as the check, all or nothing', async () => {
    const [old, newer] = [open('stock'), open('stock')];
    await old.write(1n, [{ key: 'count', value: '7' }]);
    await newer.claim(2n); // its first read; the old one does not know of it
    const stale = [
      { key: 'count', value: '8' },
      { key: 'other', value: '8' },
    ];
    await expect(old.write(1n, stale)).rejects.toThrow(FENCED);
    expect([await stored('count'), await stored('other')]).toEqual(['7', '']);
    await newer.write(2n, [{ key: 'count', value: Buffer.from('9') }]);
    await newer.write(2n, [{ key: 'count', value: '10' }]);
    expect(await stored('count')).toBe('10');
  });

  test('of writers at the same time, the newest token has the last word', async () => {
    const writes = Array.from({ length: 12 }, (_, i) =>
      open('race').write(BigInt(i + 1), [{ key: 'last', value: String(i + 1) }]),
    );
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.at(-1)).toMatchObject({ status: 'fulfilled' });
    for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toEqual(FENCED);
    expect(await stored('last')).toBe('12');
  });

  test('its mark is in no lock’s way, whatever the names', async () => {
    await open('fence').claim(100n);
    await using locks = createLocks(etcd({ endpoints: endpoint(server) }));
    for (const key of ['fence', 'fence:orders', 'fence/orders', 'orders']) {
      const lease = await locks.mutex(key).tryAcquire();
      expect(lease, `${key} is free`).not.toBeNull();
      await lease?.release();
    }
    for await (const { key } of locks.inspect()) expect.fail(`${key} is listed, and is no lock`);
  });

  test('what etcd could not take as one step is refused before it is sent', async () => {
    const fence = open('many');
    const many = Array.from({ length: 128 }, (_, i) => ({ key: `k${i}`, value: '' }));
    const untyped = [[{ key: 1, value: '' }], [{ key: 'a', value: 1 }], [{ key: 'a' }]] as never[];
    for (const puts of [many, [many[0]!, many[0]!], [{ key: '', value: '' }], ...untyped]) {
      await expect(fence.write(1n, puts)).rejects.toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
    }
    await fence.write(1n, many.slice(1));
  });

  test('what is more than the servers are set to take is refused for good, and said to be that', async () => {
    await using small = await startEtcd({ 'max-txn-ops': '8' });
    await using fence = etcdFence({ endpoints: endpoint(small) }, 'orders');
    const refused = (words: RegExp) =>
      expect.objectContaining({ code: 'LOCK_UNAVAILABLE', message: expect.stringMatching(words) });
    const many = Array.from({ length: 9 }, (_, i) => ({ key: `k${i}`, value: '' }));
    await expect(fence.write(1n, many)).rejects.toThrow(refused(/etcd refused.*max-txn-ops/));
    for (const bytes of [1_800_000, 3_000_000]) {
      const large = [{ key: 'large', value: new Uint8Array(bytes) }];
      await expect(fence.write(1n, large)).rejects.toThrow(refused(/etcd refused.*max-request-bytes/));
    }
  });

  test('says so when etcd does not answer', async () => {
    await using fence = etcdFence({ endpoints: '127.0.0.1:1', timeout: '1s' }, 'orders');
    await expect(fence.claim(1n)).rejects.toThrow(expect.objectContaining({ code: 'LOCK_UNAVAILABLE' }));
  });
});

type Query = (sql: string, params: (string | number)[]) => Promise<unknown>;

interface Database {
  readonly query: Query;
  /** @param fn gets the connection, too, as the driver gives it */
  transaction<T>(fn: (query: Query, connection: object) => Promise<T>): Promise<T>;
  end(): Promise<void>;
}

function ofMysql(url: string): Database {
  const pool = createPool(url);
  return {
    query: (sql, params) => pool.execute(sql, params as string[]),
    async transaction(fn) {
      const connection = await pool.getConnection();
      try {
        await connection.beginTransaction();
        const result = await fn((sql, params) => connection.query(sql, params as string[]), connection);
        await connection.commit();
        return result;
      } catch (error) {
        await connection.rollback();
        throw error;
      } finally {
        connection.release();
      }
    },
    end: () => pool.end(),
  };
}

const DATABASES: readonly [DialectName, readonly Part[], () => Promise<Server>, (url: string) => Database][] = [
  [
    'postgres',
    ['postgres'],
    startPostgres,
    (url) => {
      const pool = new pg.Pool({ connectionString: url });
      return {
        query: (sql, params) => pool.query(sql, [...params]),
        async transaction(fn) {
          const client = await pool.connect();
          try {
            await client.query('BEGIN');
            const result = await fn((sql, params) => client.query(sql, [...params]), client);
            await client.query('COMMIT');
            return result;
          } catch (error) {
            await client.query('ROLLBACK');
            throw error;
          } finally {
            client.release();
          }
        },
        end: () => pool.end(),
      };
    },
  ],
  ...MYSQL_KINDS.map(({ dialect, need, start }): (typeof DATABASES)[number] => [
    dialect,
    ['mysql', need],
    start,
    ofMysql,
  ]),
];

for (const [dialect, parts, start, open] of DATABASES) {
  describeOn(parts, `a fence in ${dialect}`, () => {
    let server: Server;
    let database: Database;
    beforeAll(async () => {
      server = await start();
      database = open(server.url);
      await sqlFence(database.query, 'any', { dialect }).setup();
    });
    afterAll(async () => {
      await database?.end();
      await server?.[Symbol.asyncDispose]();
    });

    test('refuses whatever is older than the newest token it saw', () =>
      keepsTheNewest((resource) => sqlFence(database.query, resource, { dialect })));

    test('many processes may set it up at once', async () => {
      for (let n = 0; n < 5; n++) {
        const fence = sqlFence(database.query, 'any', { dialect, table: `fences_${n}` });
        await Promise.all(Array.from({ length: 8 }, () => fence.setup()));
        await fence.claim(1n);
      }
    });

    test('claimed inside a transaction, lets nobody newer in before the commit', async () => {
      const fence = sqlFence(database.query, 'account', { dialect });
      await fence.claim(1n);
      const order: string[] = [];
      let newer: Promise<unknown> = Promise.resolve();
      await database.transaction(async (query) => {
        await fence.claim(1n, query);
        newer = fence.claim(2n).then(() => order.push('newer'));
        await query('SELECT 1', []);
        order.push('write');
      });
      await newer;
      expect(order).toEqual(['write', 'newer']);
      await expect(fence.claim(1n)).rejects.toThrow(FENCED);
    });

    test('fenced takes the connection of the driver, and no pool', async () => {
      const claim = (token: bigint) =>
        database.transaction((query, connection) =>
          fenced(connection, { token }, 'by connection', () => query('SELECT 1', []), { dialect }),
        );
      await claim(2n);
      await expect(claim(1n)).rejects.toThrow(FENCED);
      for (const other of [{}, null, 'tx'] as object[])
        await expect(fenced(other, { token: 3n }, 'by connection', () => {}, { dialect })).rejects.toMatchObject({
          code: 'LOCK_INVALID',
          message: expect.stringMatching(/is no transaction/),
        });
    });

    test('claims, works and writes in one transaction', async () => {
      await database.query('CREATE TABLE fenced_rows (id int, value int)', []);
      await database.query('INSERT INTO fenced_rows VALUES (1, 0)', []);
      const order: string[] = [];
      const write = (token: bigint, value: number, during?: () => void) =>
        database.transaction((query) =>
          fenced(
            query,
            { token },
            'fenced rows',
            async () => {
              during?.();
              await query(`UPDATE fenced_rows SET value = ${value} WHERE id = 1`, []);
              order.push(`wrote ${value}`);
              return value;
            },
            { dialect },
          ),
        );
      let newer: Promise<unknown> = Promise.resolve();
      const first = await write(1n, 10, () => {
        newer = write(2n, 20);
      });
      await newer;
      expect(first, 'the result of the work').toBe(10);
      expect(order, 'a newer holder comes after the commit').toEqual(['wrote 10', 'wrote 20']);
      await expect(write(1n, 11), 'an older one does nothing').rejects.toThrow(FENCED);
      expect(rowsOf(await database.query('SELECT value FROM fenced_rows', []))).toEqual([{ value: 20 }]);
      await expect(
        fenced(database.query, { token: 3n }, 'fenced rows', () => expect.fail('it ran'), { dialect }),
      ).rejects.toMatchObject({ code: 'LOCK_INVALID', message: expect.stringContaining('is not in a transaction') });
    });

    test('a fence made with the query of a transaction is claimed in it, if claim is given that query', async () => {
      await database.transaction(async (query) => {
        await sqlFence(query, 'made inside', { dialect }).claim(7n, query);
      });
      await expect(sqlFence(database.query, 'made inside', { dialect }).claim(6n)).rejects.toThrow(FENCED);
    });

    test('a mark that a rollback could take away is no mark', async () => {
      let refused: unknown;
      await database.transaction(async (query) => {
        // A connection of a pool comes back with the transaction that somebody else left open on it.
        const fence = sqlFence(query, 'left open', { dialect });
        refused = await fence.claim(5n).catch((error) => error);
        await query('ROLLBACK', []);
      });
      expect(refused).toMatchObject({ code: 'LOCK_UNAVAILABLE', message: expect.stringMatching(/left it open/) });
      await sqlFence(database.query, 'left open', { dialect }).claim(4n);
    });

    test('a transaction that began to read before the newer claim is refused all the same', async () => {
      const fence = sqlFence(database.query, 'snapshot', { dialect });
      await fence.claim(1n);
      await database.transaction(async (query) => {
        await query('SELECT newest FROM holdfast_fences', []); // where reads repeat, this is what they show from here on
        await fence.claim(2n);
        await expect(fence.claim(1n, query)).rejects.toThrow(FENCED);
      });
    });

    test('as a column, checks and writes in one statement', async () => {
      await database.query('CREATE TABLE rows_with_fence (id int, value int, fence bigint NOT NULL)', []);
      await database.query('INSERT INTO rows_with_fence VALUES (1, 0, 0)', []);
      const mark = dialect === 'postgres' ? '$1' : '?';
      const write = async (value: number, token: bigint) => {
        const { set, where, params, next } = fenceColumn(token, { dialect, first: 2 });
        expect(next, 'the number after its own').toBe(2 + params.length);
        const sql = `UPDATE rows_with_fence SET value = ${mark}, ${set} WHERE id = 1 AND ${where}`;
        await database.query(sql, [value, ...params]);
      };
      await write(5, 5n);
      await write(4, 4n);
      expect(rowsOf(await database.query('SELECT value FROM rows_with_fence', []))).toEqual([{ value: 5 }]);
    });
  });
}

describeOn('postgres', 'a fence in a transaction of postgres.js', () => {
  test('claims, works and writes in it; an older token does nothing', async () => {
    await using server = await startPostgres();
    const sql = postgresJs(server.url, { onnotice: () => {} });
    await sqlFence((text, params) => sql.unsafe(text, params), 'any').setup();
    await sql`CREATE TABLE js_rows (value int)`;
    const write = (token: bigint, value: number) =>
      sql.begin((tx) => fenced(tx, { token }, 'js rows', () => tx`INSERT INTO js_rows VALUES (${value})`));
    await write(2n, 20);
    await expect(write(1n, 10)).rejects.toThrow(FENCED);
    expect([...(await sql`SELECT value FROM js_rows`)]).toEqual([{ value: 20 }]);
    await sql.end();
  });
});

describeOnMysql('a fence over connections of all kinds', ({ dialect, start }) => {
  let server: Server;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  async function withPool(
    options: PoolOptions,
    use: (open: (resource: string) => Fence) => Promise<void>,
  ): Promise<void> {
    const pool = createPool({ uri: server.url, ...options });
    const query: Query = (sql, params) => pool.execute(sql, params as string[]);
    await sqlFence(query, 'any', { dialect }).setup();
    await use((resource) => sqlFence(query, resource, { dialect }));
    await pool.end();
  }

  test('whatever character sets they speak, a resource has one mark, and no other has the same', () =>
    withPool({}, (utf8) =>
      withPool({ charset: 'latin1' }, async (latin1) => {
        await utf8('café').claim(2n);
        await expect(latin1('café').claim(1n)).rejects.toThrow(FENCED);
        await latin1('订单').claim(2n);
        await latin1('库存').claim(1n);
      }),
    ));

  test.each<PoolOptions>([
    { rowsAsArray: true },
    { nestTables: '_' },
    { typeCast: false },
    { charset: 'binary' },
  ])('where rows come as %o, it refuses what is older, and nothing else', (options) =>
    withPool(options, (open) => keepsTheNewest((resource) => open(JSON.stringify(options) + resource))));
});
