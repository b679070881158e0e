import { expect, test } from 'vitest';
import { mysql } from '../../../src/backends/mysql/index.ts';
import type { CallbackPool, Connection } from '../../../src/backends/mysql/pool.ts';
import { createLocks } from '../../../src/index.ts';
import { describeOnMysql } from '../../kit/mysql-kinds.ts';
import { until } from '../../kit/wait.ts';
import { useServer } from './server.ts';

const REFUSAL = { errno: 1142, sqlState: '42000', sqlMessage: 'SELECT command denied' };

/** Over `core`. The next statement that has `words` is refused as if by the server. */
function refusing(core: CallbackPool) {
  let words: string | undefined;
  const wrap = (connection: Connection): Connection =>
    new Proxy(connection, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (name !== 'execute') return typeof value === 'function' ? value.bind(target) : value;
        return (statement: { sql: string }, done: (error: unknown) => void) => {
          if (words === undefined || !statement.sql.includes(words)) return value.call(target, statement, done);
          words = undefined;
          queueMicrotask(() => done(Object.assign(new Error(REFUSAL.sqlMessage), REFUSAL)));
        };
      },
    });
  const pool = {
    promise: () => pool,
    getConnection: (done: (error: Error | null, connection: Connection) => void) =>
      core.getConnection((error, connection) => done(error, connection && wrap(connection))),
  };
  return {
    pool: pool as unknown as CallbackPool,
    refuse(next: string) {
      words = next;
    },
    get refused() {
      return words === undefined;
    },
  };
}

describeOnMysql('an attempt that takes several statements', (kind) => {
  const host = useServer(kind);

  test('leaves no claim in the queue when one of them is refused after the claim has joined', async () => {
    const link = refusing((host.pool() as unknown as { pool: CallbackPool }).pool);
    const locks = createLocks(mysql(link.pool, { ownConnection: false }));
    const others = createLocks(mysql(host.pool()));
    const first = await others.mutex('key').acquire();
    await locks.mutex('warm').run(() => {});
    const entries = async (): Promise<number> => {
      let found = 0;
      for await (const _ of others.inspect('key')) found++;
      return found;
    };
    link.refuse('AS one LEFT JOIN'); // the statement that reads the row of the queue
    await expect(locks.mutex('key').acquire({ wait: '500ms' })).rejects.toThrow();
    expect(link.refused, 'the statement is one that an attempt sends').toBe(true);
    await until('only the holder is in the queue', async () => (await entries()) === 1, 5_000);
    await first.release();
    expect(await entries(), 'after the release').toBe(0);
    await Promise.all([locks.close(), others.close()]);
  });
});
