import { CallTimeouts, type Clock, inMs, sleep } from '../../core/index.ts';
import { checkAlone, checkWrites, isNoWrites, isPassing, LeftOpen, leftOpenError, NoWrites } from './errors.ts';
import { ask, borrow, type CallbackPool, type Connection, coreOf, destroy, type MysqlPool, openIn } from './pool.ts';
import type { Bound } from './statements.ts';

/** Tries of a statement that lost a deadlock or a wait for a row, and the longest pause after the first, ms. */
const MAX_ATTEMPTS = 5;
const MAX_PAUSE_MS = 20;
/** Longest time for one statement, ms. After it, the connection is given up. */
const MAX_STATEMENT_MS = 10_000;
/** Longest time to wait for the end of a session, ms: `close` waits for it. */
const MAX_KILL_MS = 3_000;
/**
 * From 11.6.2 on MariaDB refuses a statement whose row another one has changed after it began (ER_CHECKREAD), unless a setting says otherwise
 * (`innodb_snapshot_isolation` in its documentation). On a hot key that is every second one. Ours lock a row and change it in one step.
 * Other servers, and older ones, take this for a comment.
 */
const LATEST_ROWS = '/*M!110602 SET STATEMENT innodb_snapshot_isolation=OFF FOR */ ';
/** Does nothing. Its answer has no rows, but says what is open on the session. */
const NO_OP = 'DO 0';

/** Sends statements over the pool. Each commits by itself, and has limited time. */
export class Server {
  readonly #pool: CallbackPool;
  readonly clock: Clock;
  readonly #timeouts: CallTimeouts;
  /** How many connections of the pool had something left open on them. */
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
   * What the server refuses for the moment is tried again: the statement was a transaction of its own, and was rolled back. Where a
   * connection that was there before leads to a server that takes no writes, a newer one may lead to another server.
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

  /** A connection for as long as `fn` takes. After an error that the server did not send, it is not used again. */
  async with<T>(fn: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await borrow(this.#pool);
    let sound = false;
    try {
      const result = await fn(connection);
      sound = true;
      return result;
    } catch (error) {
      const { sqlState, fatal } = error as { sqlState?: string; fatal?: boolean };
      sound = sqlState !== undefined && !fatal;
      throw error;
    } finally {
      if (sound) connection.release();
      else destroy(connection);
    }
  }

  /**
   * @param over ends the wait for an answer: a connection that was destroyed gives none
   * @throws LeftOpen, NoWrites the connection must be destroyed
   */
  on(connection: Connection, statement: Bound, over?: AbortSignal): Promise<unknown> {
    return this.#countUse(async () => {
      const sql = LATEST_ROWS + statement.sql;
      const result = await this.#bound(ask(connection, 'execute', { ...statement, sql }), MAX_STATEMENT_MS, over);
      checkWrites(result);
      if (checkAlone(result) === undefined) checkAlone(await this.say(connection, NO_OP, 0, over));
      return result;
    });
  }

  /** A statement that would commit what is open on its session. It runs only where nothing is open. */
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

  /** A statement without values. @param ms the time that it takes by itself; @param over as for `on` */
  say(connection: Connection, sql: string, ms = 0, over?: AbortSignal): Promise<unknown> {
    return this.#bound(ask(connection, 'query', { sql }), ms + MAX_STATEMENT_MS, over);
  }

  /** Ends a session of the server. Gives up when no connection is free for it, or nobody answers. @param kill the statement */
  kill(kill: string): Promise<unknown> {
    const killed = this.with((connection) => this.say(connection, kill));
    return this.#bound(killed, MAX_KILL_MS);
  }

  #bound(answer: Promise<unknown>, ms: number, over?: AbortSignal): Promise<unknown> {
    return this.#timeouts.bound(
      over ? unless(over, answer) : answer,
      ms,
      () => new Error(`no answer within ${inMs(ms)}`),
    );
  }

  /** What is under way goes on: a connection that goes back to the pool in the middle of a statement is of no use there. */
  close(): void {
    this.#timeouts.endTimers();
  }
}

function unless<T>(over: AbortSignal, answer: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(new Error('the connection was ended'));
    const end = (): void => over.removeEventListener('abort', abort);
    over.addEventListener('abort', abort);
    if (over.aborted) abort();
    answer.then(resolve, reject);
    answer.then(end, end);
  });
}
