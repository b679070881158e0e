import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mysql, mysqlNamed } from '../../src/backends/mysql/index.ts';
import { postgres, postgresAdvisory } from '../../src/backends/postgres/index.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks, type Lease, type Locks } from '../../src/index.ts';
import { type Pair, startMysqlPair, startPostgresPair } from '../kit/fail-over.ts';
import { MYSQL_KINDS } from '../kit/mysql-kinds.ts';
import type { Part } from '../kit/selection.ts';
import { describeOn } from '../kit/suite.ts';
import { settleWithin, until } from '../kit/wait.ts';

const TTL = 4_000;
/** ms after which nobody goes on with what the old primary told: a lease without a renewal is over, and every session was looked at. */
const SETTLED = 6_500;
/** Of each pool: all are open, and lead to the old primary, when it is one no more. */
const CONNECTIONS = 6;

interface Site {
  readonly title: string;
  readonly parts: readonly Part[];
  start(stack: AsyncDisposableStack): Promise<Pair>;
  /** A pool whose connections are all open. */
  pool(url: string, stack: AsyncDisposableStack): Promise<never>;
  readonly table: (pool: never, ownConnection: boolean) => Backend;
  /** On locks of the server's own sessions. */
  readonly sessions: (pool: never) => Backend;
}

const SITES: readonly Site[] = [
  {
    title: 'PostgreSQL',
    parts: ['postgres'],
    start: startPostgresPair,
    async pool(url, stack) {
      const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
      pool.on('error', () => {});
      stack.defer(() => pool.end());
      await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.query('SELECT pg_sleep(0.1)')));
      return pool as never;
    },
    table: (pool, ownConnection) => postgres(pool, { ownConnection }),
    sessions: (pool) => postgresAdvisory(pool),
  },
  ...MYSQL_KINDS.map(
    (kind): Site => ({
      title: kind.name,
      parts: ['mysql', kind.need],
      // Sessions are looked at three times in the time after which the server ends idle ones.
      start: (stack) => startMysqlPair(stack, kind, { 'wait-timeout': '6' }),
      async pool(url, stack) {
        const pool = createPool({ uri: url, connectionLimit: CONNECTIONS });
        stack.defer(() => pool.end());
        await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.query('DO SLEEP(0.1)')));
        return pool as never;
      },
      table: (pool, ownConnection) => mysql(pool, { ownConnection }),
      sessions: (pool) => mysqlNamed(pool),
    }),
  ),
];

async function standings(locks: Locks, prefix: string): Promise<number> {
  let found = 0;
  for await (const _ of locks.inspect(prefix)) found++;
  return found;
}

/** Two processes of one kind, of which one holds a key and the other waits for it. */
class Two {
  readonly one: Locks;
  readonly two: Locks;
  readonly key: string;
  lease!: Lease;
  next!: Promise<Lease>;

  constructor(key: string, one: Locks, two: Locks) {
    [this.key, this.one, this.two] = [key, one, two];
  }

  async hold(): Promise<void> {
    this.lease = await this.one.mutex(this.key).acquire({ ttl: TTL });
    this.next = this.two.mutex(this.key).acquire({ ttl: TTL, wait: 60_000 });
    this.next.catch(() => {});
  }

  /** ms until a key can be had that is free. */
  async served(): Promise<number> {
    const asked = performance.now();
    await (await this.two.mutex(`free ${this.key}`).acquire({ wait: 10_000 })).release();
    return performance.now() - asked;
  }
}

for (const { title, parts, start, pool, table, sessions } of SITES) {
  describeOn(parts, `a fail-over behind one address, ${title}`, () => {
    const stack = new AsyncDisposableStack();
    const over = new AbortController();
    const ms: Record<string, number> = {};
    let all: Record<'tables' | 'own' | 'sessions', Two>;
    let leading = 0;
    let read: (string | undefined)[];

    beforeAll(async () => {
      const pair = await start(stack);
      const open = async (make: (pool: never) => Backend): Promise<Locks> => {
        const locks = createLocks(make(await pool(pair.url, stack)));
        stack.defer(() => locks.close());
        await locks.mutex('before').run(async () => {});
        return locks;
      };
      const two = async (key: string, make: (pool: never) => Backend): Promise<Two> => {
        const made = new Two(key, await open(make), await open(make));
        await made.hold();
        return made;
      };
      all = {
        tables: await two('tables', (made) => table(made, false)),
        own: await two('own', (made) => table(made, true)),
        sessions: await two('sessions', sessions),
      };
      const [writer, reader] = [table(await pool(pair.url, stack), false), table(await pool(pair.url, stack), false)];
      for (const backend of [writer, reader]) stack.defer(() => backend.close());
      await writer.hints!.write('note', 'old', 600_000);
      expect(await reader.hints!.read('note')).toBe('old');
      const terms = [all.tables.one, all.tables.two].map((locks) =>
        locks.leader('cron', { ttl: TTL }).run(
          async ({ signal }) => {
            leading++;
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
            leading--;
          },
          { signal: over.signal },
        ),
      );
      const ended = Promise.allSettled(terms);
      stack.defer(async () => void (await ended));
      await until('one leads', () => leading === 1);
      await pair.failOver();
      const settled = performance.now() + SETTLED;
      await writer.hints!.write('note', 'new', 600_000);
      await writer.hints!.write('another', 'first', 600_000);
      read = [await reader.hints!.read('note'), await reader.hints!.read('another')];
      for (const [kind, made] of Object.entries(all)) ms[kind] = await made.served();
      await until('all has settled', () => performance.now() > settled);
    }, 90_000);
    afterAll(async () => {
      over.abort();
      await stack.disposeAsync();
    }, 30_000);

    test('a key that is free can be had within seconds', () => {
      for (const [kind, served] of Object.entries(ms)) expect(served, `ms: ${kind}`).toBeLessThan(3_000);
    });

    for (const kind of ['tables', 'own'] as const) {
      test(`a hold in the tables stays, and who stands behind it has its turn: ${kind}`, async () => {
        const { lease, next } = all[kind];
        expect(lease.signal.reason, 'why the hold is lost').toBeUndefined();
        await lease.release();
        await (await settleWithin('the next holder', next)).release();
      });

      test(`whoever waits on the new primary is told at once: ${kind}`, async () => {
        const { one, two } = all[kind];
        const took: number[] = [];
        for (let round = 0; round < 3; round++) {
          const key = `after ${kind} ${round}`;
          const holder = await one.mutex(key).acquire();
          const next = two.mutex(key).acquire({ wait: 10_000 });
          await until('it waits', async () => (await standings(two, key)) === 2);
          const released = performance.now();
          await holder.release();
          await (await next).release();
          took.push(performance.now() - released);
        }
        expect(
          Math.min(...took),
          'ms of the quickest hand-over; a waiter that is deaf asks each second or so',
        ).toBeLessThan(400);
      });
    }

    test('a note is read where it was written last', () => {
      expect(read, 'over connections that lead to the old primary').toEqual(['new', 'first']);
    });

    test('one leads', () => until('one leads', () => leading === 1, 5_000));

    test('a hold of a session of the old primary is told as lost, and the next holder has it on the new one', async () => {
      const { lease, next } = all.sessions;
      await until('the loss is told', () => lease.signal.aborted);
      await (await settleWithin('the next holder', next, 15_000)).release();
    }, 30_000);
  });
}
