import { CallTimeouts, type Clock, inMs, onAbort, sleep } from '../../core/index.ts';
import { checkAlone, checkWrites, isNoWrites, isPassing, LeftOpen, leftOpenError, NoWrites } from './errors.ts';
import { ask, borrow, type CallbackPool, type Connection, coreOf, destroy, type MysqlPool, openIn } from './pool.ts';
import type { Bound } from './statements.ts';

/** How often a statement that meets a passing error is sent. After attempt n, the pause is at most n + 1 times `MAX_PAUSE_MS`. */
const MAX_ATTEMPTS = 5;
const MAX_PAUSE_MS = 20;
/** The longest time for one statement, ms. After that, we give up its connection. */
const MAX_STATEMENT_MS = 10_000;
/** The longest wait for the answer to a KILL, ms. `close` of a backend may wait as long. */
const MAX_KILL_MS = 3_000;
/**
 * From 11.6.2 on, MariaDB refuses a statement (ER_CHECKREAD) if another one has changed its row since the statement began, unless
 * `innodb_snapshot_isolation` is off. On a hot key that would be every second statement. Ours lock and change their row in one step, so they
 * need no such check. `sql_safe_updates` would refuse to renew several holds: their list has no key. Other servers take this text for a comment.
 */
const SETTINGS = '/*M! SET STATEMENT sql_safe_updates=OFF *//*M!110602 ,innodb_snapshot_isolation=OFF *//*M! FOR */ ';
/** A statement that does nothing. Its answer has no rows, but flags that show what is open on the session. */
const NO_OP = 'DO 0';

/** Sends statements over the pool. Each one commits by itself, within a limited time. */
export class Server {
  readonly #pool: CallbackPool;
  readonly clock: Clock;
  readonly #timeouts: CallTimeouts;
  /** How often a connection of the pool had a transaction, or something like it, left open. */
  leftOpen = 0;

  constructor(pool: MysqlPool, clock: Clock) {
    this.#pool = coreOf(pool);
    this.clock = clock;
    this.#timeouts = new CallTimeouts(clock);
  }

  connection(): Promise<Connection> {
    return borrow(this.#pool);
  }

  /**
   * Sends a statement, and again after a conflict: the statement was a transaction of its own, which the server has undone. If the server takes
   * no writes, sends it once more for each connection that was open before: a newer connection may lead to another server.
   */
  async run(statement: Bound): Promise<unknown> {
    let before = openIn(this.#pool);
    for (let attempts = 1; ; ) {
      try {
        return await this.with((connection) => this.on(connection, statement));
      } catch (error) {
        if (error instanceof NoWrites && before-- > 0) continue;
        if (!isPassing(error) || attempts++ === MAX_ATTEMPTS) throw error;
        await sleep(this.clock, this.clock.random() * MAX_PAUSE_MS * attempts);
      }
    }
  }

  /** Lends a connection to `fn`. The connection is ended after an error that did not come from the server, or with which the server ends it. */
  async with<T>(fn: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await borrow(this.#pool);
    try {
      const result = await fn(connection);
      connection.release();
      return result;
    } catch (error) {
      const { sqlState, fatal } = error as { sqlState?: string; fatal?: boolean };
      if (sqlState === undefined || sqlState.startsWith('08') || fatal) destroy(connection);
      else connection.release();
      throw error;
    }
  }

  /**
   * @param over ends the wait for an answer, which never comes once the connection is destroyed
   * @throws LeftOpen, NoWrites: the caller must destroy the connection
   */
  on(connection: Connection, statement: Bound, over?: AbortSignal): Promise<unknown> {
    return this.#countUse(async () => {
      const sql = SETTINGS + statement.sql;
      const result = await this.#bound(ask(connection, 'execute', { ...statement, sql }), MAX_STATEMENT_MS, over);
      checkWrites(result);
      if (checkAlone(result) === undefined) checkAlone(await this.say(connection, NO_OP, 0, over));
      return result;
    });
  }

  /** Sends a statement that would commit an open transaction of its session. It runs only if none is open. */
  runAlone(statement: Bound): Promise<unknown> {
    return this.with(async (connection) => {
      await this.#countUse(async () => checkAlone(await this.say(connection, NO_OP)));
      return this.on(connection, statement);
    });
  }

  async #countUse<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (cause) {
      if (isNoWrites(cause)) throw new NoWrites((cause as Error).message, cause);
      const error = leftOpenError(cause);
      if (error instanceof LeftOpen) this.leftOpen++;
      throw error;
    }
  }

  /** Sends a statement without values. @param ms the time that the statement itself takes @param over as for `on` */
  say(connection: Connection, sql: string, ms = 0, over?: AbortSignal): Promise<unknown> {
    return this.#bound(ask(connection, 'query', { sql }), ms + MAX_STATEMENT_MS, over);
  }

  /** Ends a session of the server. Rejects if no connection becomes free, or no answer comes, in time. @param kill the statement */
  kill(kill: string): Promise<unknown> {
    const killed = this.with((connection) => this.say(connection, kill));
    return this.#bound(killed, MAX_KILL_MS);
  }

  #bound(answer: Promise<unknown>, ms: number, over?: AbortSignal): Promise<unknown> {
    const asked = over ? unless(over, answer) : answer;
    return this.#timeouts.bound(asked, ms, () => new Error(`no answer within ${inMs(ms)}`));
  }

  /**
   * Ends the timers.
   * @param all also ends the statements under way, with their connections. Default: they go on, since such a connection must not go back to its pool
   */
  close(all = false): void {
    if (all) this.#timeouts.close();
    else this.#timeouts.endTimers();
  }
}

function unless<T>(over: AbortSignal, answer: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const unlisten = onAbort(over, () => reject(new Error('the connection was ended')));
    answer.then(resolve, reject).finally(unlisten);
  });
}
