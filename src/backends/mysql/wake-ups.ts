import type { Clock } from '../../core/index.ts';
import { checkWrites } from './errors.ts';
import { type Connection, destroy, type PoolRow } from './pool.ts';
import type { Queues } from './queues.ts';
import type { Server } from './server.ts';
import * as sql from './sql.generated.ts';
import { bare } from './statements.ts';
import { NO_ADDRESS } from './stored-queue.ts';

/** The length of one sleep on the server, s: less than every common idle limit. */
const SLEEP_SECONDS = 20;
/** Pause after the connection was lost, ms. */
const RETRY_MS = 1_000;

/**
 * Lets another process notify this one between two polls. This process takes a named lock on a connection, and sleeps on that connection
 * (SLEEP). The other process finds the session that has the lock (IS_USED_LOCK), and ends its sleep. Then this process reads its queues. If a
 * notification is lost, it reads them at its next poll.
 */
export class ServerWakeUps {
  readonly #queues: Queues;
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #onNotify: () => void;
  /** The name by which others notify this process, while it listens. The text of each of our claims has this name. */
  readonly address: string;
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
    this.address = clock.id();
  }

  listen(): void {
    if (this.#listening || this.#over.signal.aborted) return;
    this.#listening = true;
    void this.#listen();
  }

  /**
   * Notifies the holders of the key, in the background. There is one batch of keys at a time, and keys that come meanwhile are in the next batch:
   * MariaDB needs seconds for a KILL of a session that is just falling asleep, and several KILLs at once keep new connections out.
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
    // Otherwise the session would sleep to the end, and only then notice that its connection has ended.
    await this.#server.kill(`KILL IS_USED_LOCK('${lockOf(this.address)}')`).catch(() => {});
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
      const values = [lockOf(this.address)];
      // A session with an open transaction is refused here. Otherwise the transaction would stay open while this process listens.
      const [row] = (await this.#server.on(connection, { sql: GET_LOCK, values }, this.#over.signal)) as PoolRow[];
      // An older session of this process, whose connection broke, may still have the lock. Without the lock, nobody could wake this session.
      if (Number(row?.got) !== 1) throw new Error('another session has the lock of this name');
      for (;;) {
        const slept = this.#server.say(connection, SLEEP, SLEEP_SECONDS * 1_000, this.#over.signal);
        const rows = await slept.catch((error) => {
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
      await this.#wakeHoldersOf(keys).catch(() => {}); // the holders also find out at their next poll
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
    for (const none of [NO_ADDRESS, this.address]) others.delete(none);
    if (others.size === 0) return;
    await this.#server.with(async (connection) => {
      // One statement finds the session and wakes it: between two statements, another session could get the same number.
      for (const other of others)
        await this.#server.say(connection, `KILL QUERY IS_USED_LOCK('${lockOf(other)}')`).catch((error) => {
          if (!isNobody(error)) throw error;
        });
    });
  }
}

// `closed` shows the old primary of a fail-over, to which nobody sends notifications.
const SLEEP = `SELECT SLEEP(${SLEEP_SECONDS}), ${bare(sql.closed)} AS closed`;
const GET_LOCK = `SELECT GET_LOCK(?, 0) AS got, ${bare(sql.closed)} AS closed, ${bare(sql.open)} AS open`;

/** An address comes from the table, so only the characters of our own addresses go into a statement. */
const lockOf = (address: string): string => `holdfast:${address.replace(/[^0-9a-f]/g, '').slice(0, 32)}`;

/** ER_QUERY_INTERRUPTED. */
const isInterrupted = (error: unknown): boolean => (error as { errno?: number }).errno === 1317;
/** ER_NO_SUCH_THREAD: nobody has that lock. */
const isNobody = (error: unknown): boolean => (error as { errno?: number }).errno === 1094;
