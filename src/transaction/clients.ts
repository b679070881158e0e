import { invalid, KeyedSerializer, LockError, shown } from '../core/index.ts';
import { codesOf, type DialectName, type Query } from './query.ts';

/**
 * A transaction as a library gives it: the connection of pg, mysql2 or mariadb, the `sql` of postgres.js, the `tx` of Drizzle or Prisma,
 * the `trx` of Knex or Kysely, the manager of TypeORM. Or a `Query`.
 */
export type Transaction = Query | object;

type Method = (...given: unknown[]) => Promise<unknown>;
type Client = Readonly<Record<string, Method>> & { readonly queryRunner?: { readonly query: Method } };
type Run = (tx: Client, text: string, params: never[]) => Promise<unknown>;

/**
 * How each library runs SQL with parameters. We know a library by a method of its transactions: the first method of this list that the
 * transaction has decides. If a library takes an object in place of the SQL, we build that object here, and import nothing of the library.
 */
const CLIENTS: readonly (readonly [method: string, run: Run])[] = [
  ['unsafe', (sql, text, params) => sql.unsafe!(text, params)], // postgres.js
  [
    '$queryRawUnsafe', // Prisma, where another method counts the changed rows
    async (tx, text, params: unknown[]) =>
      text.startsWith('UPDATE')
        ? { count: await tx.$executeRawUnsafe!.apply(tx, [text, ...params]) }
        : tx.$queryRawUnsafe!.apply(tx, [text, ...params]),
  ],
  ['raw', async (trx, text, params) => trx.raw!(text.replace(/\$\d+/g, '?'), params)], // Knex, which numbers the parameters itself
  [
    'executeQuery', // Kysely
    (trx, sql, parameters) => {
      const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
      return trx.executeQuery!({ sql, parameters, query, queryId: { queryId: 'holdfast' } });
    },
  ],
  [
    'execute', // Drizzle. mysql2 has `execute`, too, but only in mysql2 `query` is a function
    async (tx, sql, params) => {
      const made = { getSQL: () => made, toQuery: () => ({ sql, params }) };
      return tx.execute!(made);
    },
  ],
];

/** The transaction of each `Query` of `queryOf`. */
const transactions = new WeakMap<Query, object>();
const [turns, checks] = [new KeyedSerializer<object>(), new KeyedSerializer<object>()];

/** Runs `act` when the earlier ones of its transaction have settled. @param of `checks`, which wait for no row, have turns of their own */
export const inTurn = <T>(query: Query, act: () => Promise<T>, of = turns): Promise<T> =>
  of.take(transactions.get(query) ?? query, act);

/** PostgreSQL: no active transaction, no such savepoint. MySQL and MariaDB: no such savepoint. */
const NO_TRANSACTION = ['25P01', '3B001', '1305'];
/** MySQL cannot prepare this statement. */
const NOT_PREPARED = '1295';

/**
 * Checks that `query` runs in a transaction: outside of a transaction the server does not find the savepoint.
 * @throws LockError `LOCK_INVALID`
 */
export async function assertTransaction(query: Query, dialect: DialectName, taker: string, key: string): Promise<void> {
  const check = async (): Promise<void> => {
    for (const text of ['SAVEPOINT holdfast_check', 'RELEASE SAVEPOINT holdfast_check']) await query(text, []);
  };
  try {
    // In MySQL a savepoint replaces an earlier one of its name, so calls at once take turns. PostgreSQL keeps both, and needs no turns.
    await (dialect === 'postgres' ? check() : inTurn(query, check, checks));
  } catch (error) {
    const codes = codesOf(error);
    const isOutside = codes.some((code) => NO_TRANSACTION.includes(code));
    if (!isOutside && !codes.includes(NOT_PREPARED)) throw error;
    const why = isOutside
      ? `${taker}() is not in a transaction: begin one, and give it a query that runs on its connection`
      : `MySQL takes no SAVEPOINT as a prepared statement: give ${taker}() connection.query, not connection.execute`;
    throw new LockError('LOCK_INVALID', why, { key, cause: error });
  }
}

/**
 * Gives the `Query` of a transaction.
 * @throws LockError `LOCK_INVALID` for what is no transaction of these libraries
 * @example
 * await db.transaction((tx: object) => lockRow(queryOf(tx), { dialect: 'postgres', table: 'orders', where: { id: 42 } }));
 */
export function queryOf(transaction: Transaction): Query {
  const query = makeQuery(transaction); // each time: an object may stand for the transaction of its caller, as a proxy does
  if (query !== transaction) transactions.set(query, transaction); // a `Query` that was made before stays in the turns of its transaction
  return query;
}

function makeQuery(transaction: Transaction): Query {
  const tx = transaction as Client;
  const has = (name: string): boolean => typeof Object(tx)[name] === 'function';
  const { queryRunner } = Object(tx) as Client;
  if (queryRunner) return (text, params) => queryRunner.query(text, params, true); // TypeORM; true: with the number of changed rows
  const run = CLIENTS.find(([method]) => has(method) && !(method === 'execute' && has('query')))?.[1];
  if (run) return (text, params) => run(tx, text, params);
  if (has('promise')) return queryOf((tx as unknown as { promise(): object }).promise()); // mysql2 with callbacks
  if (has('query')) return (text, params) => tx.query!(text, params);
  if (typeof transaction === 'function') return transaction as Query;
  throw invalid(`${shown(transaction)} is no transaction: give what your library calls tx, trx, manager or connection`);
}
