import type { Clock } from '../../core/index.ts';
import { checkWrites } from './errors.ts';
import { type Connection, destroy, type PoolRow } from './pool.ts';
import type { Queues } from './queues.ts';
import type { Server } from './server.ts';
import { closed, open } from './sql.generated.ts';
import { bare } from './statements.ts';
import { NO_ADDRESS } from './stored-queue.ts';

/** One sleep on the server, s: less than every common idle limit. */
const SLEEP_SECONDS = 20;
/** Pause after the connection was lost, ms. */
const RETRY_MS = 1_000;

/**
 * Lets another process tell this one to look, before its next poll. This process sleeps on the server, on one connection, and holds a
 * named lock meanwhile. The other one asks who holds that lock (IS_USED_LOCK), and ends this sleep. It is a hint: one that is not
 * heard costs one poll.
 */
export class ServerWakeUps {
  readonly #queues: Queues;
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #onNotify: () => void;
  readonly #name: string;
  #connection: Connection | undefined;
  #listening = false;
  readonly #over = new AbortController();
  /** Keys whose holders are to be notified next. */
  readonly #wanted = new Set<string>();
  #notifying = false;

  constructor(queues: Queues, clock: Clock, onNotify: () => void) {
    this.#queues = queues;
    this.#server = queues.table.server;
    this.#clock = clock;
    this.#onNotify = onNotify;
    this.#name = clock.id();
  }

  /** The name by which others notify this process, while it listens. A hold keeps the name that it was taken under. */
  get address(): string {
    return this.#name;
  }

  listen(): void {
    if (this.#listening || this.#over.signal.aborted) return;
    this.#listening = true;
    void this.#listen();
  }

  /**
   * Notifies, in the background, the process that holds the key by then. One at a time; the next one is for all keys that came meanwhile. A
   * KILL of a session that is just falling asleep takes MariaDB seconds, and several of them keep new connections out of the server.
   */
  notify(key: string): void {
    this.#wanted.add(key);
    if (!this.#notifying) void this.#notify();
  }

  async close(): Promise<void> {
    this.#over.abort();
    const connection = this.#connection;
    if (!connection) return;
    destroy(connection);
    // Otherwise the server would sleep on, and only then notice that the connection has ended.
    await this.#server.kill(`KILL IS_USED_LOCK('${lockOf(this.#name)}')`).catch(() => {});
  }

  async #listen(): Promise<void> {
    while (!this.#over.signal.aborted) {
      try {
        await this.#server.with((connection) => this.#sleep(connection));
      } catch {
        if (this.#over.signal.aborted) return;
        await new Promise<void>((resume) => this.#clock.after(RETRY_MS, resume, true));
      }
    }
  }

  async #sleep(connection: Connection): Promise<never> {
    if (this.#over.signal.aborted) throw new Error('closed');
    this.#connection = connection;
    connection.on('error', () => {});
    try {
      const values = [lockOf(this.#name)];
      // This also refuses a session with something left open on it: that would stay open for as long as this process listens.
      const [row] = (await this.#server.on(connection, { sql: getLock, values }, this.#over.signal)) as PoolRow[];
      // A session that we lost may still have the lock. Without the lock, nobody could wake or end the sleep of this session.
      if (Number(row?.got) !== 1) throw new Error('another session has the lock of this name');
      for (;;) {
        const rows = await this.#server
          .say(
            connection,
            `SELECT SLEEP(${SLEEP_SECONDS}), ${bare(closed)} AS closed`,
            SLEEP_SECONDS * 1_000,
            this.#over.signal,
          )
          .catch((error) => {
            if (!isInterrupted(error)) throw error;
          });
        if (this.#over.signal.aborted) throw new Error('closed');
        this.#onNotify();
        checkWrites(rows);
      }
    } finally {
      this.#connection = undefined;
      destroy(connection);
    }
  }

  async #notify(): Promise<void> {
    this.#notifying = true;
    while (this.#wanted.size > 0 && !this.#over.signal.aborted) {
      const keys = [...this.#wanted];
      this.#wanted.clear();
      await this.#wakeHoldersOf(keys).catch(() => {}); // then a poll tells them
    }
    this.#notifying = false;
  }

  async #wakeHoldersOf(keys: readonly string[]): Promise<void> {
    const queues = await this.#queues.read(keys);
    const claims = [...queues.values()].flatMap((queue) => [...queue.claims]);
    await this.wake(claims.filter(({ held }) => held).map(({ process }) => process!));
  }

  /** Ends the sleep of the processes with these addresses. */
  async wake(processes: readonly string[]): Promise<void> {
    const others = new Set(processes);
    for (const none of [NO_ADDRESS, this.#name]) others.delete(none);
    if (others.size === 0) return;
    await this.#server.with(async (connection) => {
      // One statement finds and wakes it: the number of a session that was looked up before may be another's by now.
      for (const other of others)
        await this.#server.say(connection, `KILL QUERY IS_USED_LOCK('${lockOf(other)}')`).catch((error) => {
          if (!isNobody(error)) throw error;
        });
    });
  }
}

// Nobody notifies over a server that was the primary.
const getLock = `SELECT GET_LOCK(?, 0) AS got, ${bare(closed)} AS closed, ${bare(open)} AS open`;

/** The name comes from the table, so only the characters of our own names go into a statement. */
const lockOf = (address: string): string => `holdfast:${address.replace(/[^0-9a-f]/g, '').slice(0, 32)}`;

/** ER_QUERY_INTERRUPTED. */
const isInterrupted = (error: unknown): boolean => (error as { errno?: number }).errno === 1317;
/** ER_NO_SUCH_THREAD: nobody has that lock. */
const isNobody = (error: unknown): boolean => (error as { errno?: number }).errno === 1094;
