import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgres } from '../../../src/backends/postgres/index.ts';
import { describeOn } from '../../kit/suite.ts';
import { Database } from './database.ts';

/** The fields of a claim after its units and capacity. */
const REST = "30000, 1, '', true, NULL, NULL, NULL, 6000, NULL, NULL, NULL";

describeOn('postgres', 'hand-overs over a long time', () => {
  let database: Database;
  beforeAll(async () => {
    // Nothing is removed but by those who come by.
    database = await Database.start({ fsync: 'off', autovacuum: 'off' });
  });
  afterAll(() => database[Symbol.asyncDispose]());

  test.each([
    ['with statistics of the tables', ''],
    ['beside a snapshot that is held open', 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1'],
  ])('each costs the same after a thousand as after a hundred, %s', async (how, snapshot) => {
    const prefix = snapshot === '' ? 'analyzed' : 'beside';
    const named = (sql: string) => sql.replaceAll('holdfast_', `${prefix}_`);
    const backend = await database.open((pool) => postgres(pool, { prefix }));
    await backend.setup();
    await using stack = new AsyncDisposableStack();
    stack.defer(() => backend.close());
    const clients = [1, 2].map(
      () => new pg.Client({ connectionString: database.server.url, options: '-c search_path=holdfast' }),
    );
    for (const client of clients) {
      await client.connect();
      stack.defer(() => client.end());
    }
    const [session, old] = clients as [pg.Client, pg.Client];
    await old.query(snapshot);

    /** The claim that waits comes after the claim that holds; each statement in a transaction of its own. */
    const handOvers = (from: number, to: number) =>
      session.query(
        named(`DO $$ BEGIN
          FOR n IN ${from} .. ${to - 1} LOOP
            PERFORM holdfast_attempt(ROW('hot', 'w' || n + 1, 1, 1, ${REST}));
            COMMIT;
            PERFORM holdfast_release('hot', 'w' || n);
            COMMIT;
          END LOOP;
        END $$`),
      );
    /** Pages that one more of them looks at. */
    const cost = async (at: number): Promise<number> => {
      let pages = 0;
      for (const call of [`attempt(ROW('hot', 'w${at + 1}', 1, 1, ${REST}))`, `release('hot', 'w${at}')`]) {
        const { rows } = await session.query(named(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT holdfast_${call}`));
        const { Plan } = rows[0]['QUERY PLAN'][0];
        pages += Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
      }
      return pages;
    };
    await session.query(named(`SELECT holdfast_attempt(ROW('hot', 'w1', 1, 1, ${REST}))`));
    await handOvers(1, 100);
    await session.query('ANALYZE');
    const early = [await cost(100), await cost(101), await cost(102)];
    await handOvers(103, 1_200);
    const late = [await cost(1_200), await cost(1_201), await cost(1_202)];
    const least = (costs: readonly number[]) => Math.min(...costs);
    expect(least(late), `pages looked at ${how}: ${early} after 100, ${late} after 1,200`).toBeLessThan(
      least(early) * 2,
    );
  });
});
