import { LockError } from '../../core/contract/errors.ts';
import { isReply } from './errors.ts';

/** Calls on a connection, each in the database that its client names or not at all. */
export type InDatabase = <T>(call: () => Promise<T>) => Promise<T>;

/** What an ioredis client knows of the database of its connection: what it asked for, not what came of it. */
interface Selecting {
  readonly options?: { readonly db?: number | undefined } | undefined;
  /** Another one for each connection. */
  readonly stream?: unknown;
  readonly status?: string;
  readonly condition?: { readonly select?: number } | null;
  /** Between a reconnection and its end: of the connection before. */
  readonly prevCondition?: { readonly select?: number } | null;
}

/** By `select()`, else by the options. */
export const databaseOf = (client: object): number => {
  const { prevCondition, condition, options } = client as Selecting;
  return (prevCondition ?? condition)?.select ?? options?.db ?? 0;
};

/**
 * ioredis (6.0) goes on in database 0 where its `SELECT` is refused, at every new connection. So the first call on each waits for a
 * `SELECT` of ours. A new connection is in 0 without one.
 */
export function ioredisDatabase(client: object, select: (database: number) => Promise<unknown>): InDatabase {
  let sure: { readonly stream: unknown; readonly database: number } | undefined;
  let asking: Promise<void> | undefined;
  const isSure = (database: number): boolean => {
    const { stream, status } = client as Selecting;
    // Until it is connected again it has the old stream, and what is sent then waits for the new one.
    return status === 'ready' && sure !== undefined && sure.stream === stream && sure.database === database;
  };
  const ask = async (): Promise<void> => {
    const database = databaseOf(client);
    await selected(database, select);
    sure = { stream: (client as Selecting).stream, database };
  };
  const makeSure = (): Promise<void> => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
  const within = async <T>(database: number, call: () => Promise<T>): Promise<T> => {
    if (!isSure(database)) await makeSure();
    const answer = await call();
    if (isSure(database)) return answer;
    // The client may have sent it again over another connection, which was not asked first.
    await makeSure().catch((cause: Error) => {
      throw new Error(`it is not known in which database it was done: ${cause.message}`, { cause });
    });
    return answer;
  };
  return (call) => {
    const database = databaseOf(client);
    return database === 0 ? call() : within(database, call);
  };
}

/**
 * node-redis (6.3) leaves a connection whose `SELECT` is refused, but what waited in its queue was sent right behind. So nothing
 * may wait there, and no answer counts from before the connection is ready.
 */
export const nodeRedisDatabase = (client: object): InDatabase => {
  const { options } = client as { readonly options?: { readonly database?: number | undefined } | undefined };
  const database = options?.database ?? 0;
  if (database === 0) return (call) => call();
  const check = (): void => {
    if ((client as { readonly isReady?: boolean }).isReady === false)
      throw new Error(`the client is not connected, or not yet in its database ${database}`);
  };
  return async (call) => {
    check();
    const answer = await call();
    check();
    return answer;
  };
};

/** @throws LockError `LOCK_UNAVAILABLE` if the server refuses the database */
export async function selected(database: number, select: (database: number) => Promise<unknown>): Promise<void> {
  try {
    await select(database);
  } catch (error) {
    if (!['ERR', 'NOPERM', 'NOAUTH'].some((code) => isReply(error, code))) throw error;
    throw new LockError(
      'LOCK_UNAVAILABLE',
      `redis refused database ${database}: ${(error as Error).message}. What to do: name a database that the server has, and grant the user +select`,
      { backend: 'redis', cause: error },
    );
  }
}
