import type { Pool, RowDataPacket } from 'mysql2/promise';
import { describe, expect, test } from 'vitest';
import { mysql } from '../../../src/backends/mysql/index.ts';
import { describeOnMysql } from '../../kit/mysql-kinds.ts';
import { claimOf } from './claims.ts';
import { useServer } from './server.ts';

const KEYS = 8;
const CLIENTS = 32;
const DURATION = 1_500;
/** So many at least, however slow the machine is. */
const GRANTS = 50;

const deadlocks = async (pool: Pool): Promise<unknown> => {
  const sql = "SELECT COUNT AS n FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_deadlocks'";
  return (await pool.query<RowDataPacket[]>(sql))[0][0]!.n;
};

/** ER_CHECKREAD, for which a statement would have to be sent again. */
const CHANGED = 1020;

/** Counts the statements that were refused because another one had changed their row. */
function countRefused(pool: Pool): { count: number } {
  const refused = { count: 0 };
  pool.on('connection', (connection) => {
    const { execute } = connection;
    const counting = (options: never, done: (error: { errno?: number } | null, result: never) => void): unknown =>
      execute.call(connection, options, ((error: { errno?: number } | null, result: never) => {
        if (error?.errno === CHANGED) refused.count++;
        done(error, result);
      }) as never);
    connection.execute = counting as unknown as typeof execute;
  });
  return refused;
}

describeOnMysql('mysql under load', (kind) => {
  for (const isolation of ['READ-UNCOMMITTED', 'READ-COMMITTED', 'REPEATABLE-READ', 'SERIALIZABLE']) {
    describe(isolation, () => {
      const host = useServer(kind, { 'transaction-isolation': isolation });

      test(`${CLIENTS} connections on ${KEYS} keys never deadlock, never overlap, and tokens grow`, async () => {
        const pool = host.pool({ connectionLimit: CLIENTS });
        const refused = countRefused(pool);
        const backend = mysql(pool, { sweep: 0, idle: 0 });
        const inside = new Array<number>(KEYS).fill(0);
        const tokens = new Array<bigint>(KEYS).fill(0n);
        let grants = 0;
        const end = performance.now() + DURATION;
        const goesOn = () => performance.now() < end || grants < GRANTS;
        const client = async (seed: number): Promise<void> => {
          for (let i = seed; goesOn(); i = (i * 7 + 3) % 1_009) {
            const place = i % KEYS;
            const claim = claimOf(`key ${place}`, { queue: i % 3 === 0 });
            const answer = await backend.attempt(claim);
            if (answer.granted) {
              expect(++inside[place]!, `holders of key ${place}`).toBe(1);
              expect(answer.token).toBeGreaterThan(tokens[place]!);
              tokens[place] = answer.token;
              await backend.renew([claim]);
              grants++;
              inside[place]!--;
            }
            await backend.release(claim);
          }
        };
        const sweeping = (async () => {
          while (goesOn()) await backend.sweep();
        })();
        await Promise.all([sweeping, ...Array.from({ length: CLIENTS }, (_, i) => client(i + 1))]);
        expect(await deadlocks(pool), 'deadlocks that the server saw').toBe(0);
        expect(refused.count, 'statements refused since their row had changed').toBe(0);
        await backend.close();
      });

      test('renewals of many keys in any order never deadlock with each other', async () => {
        const pool = host.pool({ connectionLimit: 8 });
        const backend = mysql(pool, { sweep: 0, ownConnection: false }); // over one connection they could never deadlock
        const claims = Array.from({ length: 40 }, (_, i) => claimOf(`held ${i}`));
        for (const claim of claims) expect(await backend.attempt(claim)).toMatchObject({ granted: true });
        const shuffled = (): typeof claims => [...claims].sort(() => Math.random() - 0.5);
        const answers = await Promise.all(Array.from({ length: 60 }, () => backend.renew(shuffled())));
        expect(answers.flat().filter((answer) => typeof answer !== 'object')).toEqual([]);
        expect(await deadlocks(pool), 'deadlocks that the server saw').toBe(0);
        await backend.close();
      });
    });
  }
});
