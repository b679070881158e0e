import type { Clock } from '../../core/clock.ts';
import type { Client } from './client.ts';
import type { Connection, Row } from './pool.ts';
import { open } from './sql.generated.ts';
import { bare } from './statements.ts';

/** How long the server sleeps for the bell at a time, s; below every common idle limit. */
const SLEEP = 20;
/** Pause after the connection was lost, ms. */
const PAUSE = 1_000;
/** No bell. */
const SILENT = '-';

/**
 * How another process tells this one to look, without a poll: this one sleeps on the server, on one connection, and holds
 * a named lock meanwhile; who holds a lock can be asked (IS_USED_LOCK), so the other ends just that sleep. Nothing rests
 * on it: a bell that is not heard costs one poll.
 */
export class Bell {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #onRing: () => void;
  readonly #bellsOf: (keys: readonly string[]) => Promise<readonly string[]>;
  readonly #name: string;
  #connection: Connection | undefined;
  #sleeping = false;
  #listening = false;
  readonly #over = new AbortController();
  /** Keys whose holders are to be rung in the next ring. */
  readonly #wanted = new Set<string>();
  #ringing = false;

  /**
   * @param onRing somebody rang
   * @param bellsOf of whoever holds these keys now
   */
  constructor(
    client: Client,
    clock: Clock,
    onRing: () => void,
    bellsOf: (keys: readonly string[]) => Promise<readonly string[]>,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#onRing = onRing;
    this.#bellsOf = bellsOf;
    this.#name = clock.id();
  }

  /** By which others ring it, while there is someone to hear. */
  get address(): string {
    return this.#sleeping ? this.#name : SILENT;
  }

  /** Begins to listen, if it does not already. */
  listen(): void {
    if (this.#listening || this.#over.signal.aborted) return;
    this.#listening = true;
    void this.#listen();
  }

  /**
   * Rings, in the background, whoever holds the key by then. One ring at a time, and the next for all who wait for it: a KILL that
   * meets a session as it falls asleep takes MariaDB seconds, in which more of them keep newcomers out of the server.
   */
  ring(key: string): void {
    this.#wanted.add(key);
    if (!this.#ringing) void this.#ring();
  }

  async close(): Promise<void> {
    this.#over.abort();
    const connection = this.#connection;
    if (!connection) return;
    connection.destroy();
    // The server would go on sleeping, and notice the end of the connection only then.
    await this.#client.kill(`IS_USED_LOCK('${lockOf(this.#name)}')`).catch(() => {});
  }

  async #listen(): Promise<void> {
    while (!this.#over.signal.aborted) {
      try {
        await this.#client.with((connection) => this.#sleep(connection));
      } catch {
        if (this.#over.signal.aborted) return;
        await new Promise<void>((resume) => this.#clock.after(PAUSE, resume, true));
      }
    }
  }

  async #sleep(connection: Connection): Promise<never> {
    if (this.#over.signal.aborted) throw new Error('closed');
    this.#connection = connection;
    connection.on('error', () => {});
    try {
      const values = [lockOf(this.#name)];
      // Also refuses a session with something left open on it, which would stay open for as long as this one listens.
      const [row] = (await this.#client.on(connection, { sql: getLock, values }, this.#over.signal)) as Row[];
      // A session of ours that was lost may still have it: asleep without it, this one could be neither woken nor ended.
      if (Number(row?.got) !== 1) throw new Error('another session has the lock of this bell');
      for (;;) {
        this.#sleeping = true;
        await this.#client
          .say(connection, `SELECT SLEEP(${SLEEP})`, SLEEP * 1_000, this.#over.signal)
          .catch((error) => {
            if (!isInterrupted(error)) throw error;
          });
        if (this.#over.signal.aborted) throw new Error('closed');
        this.#onRing();
      }
    } finally {
      this.#sleeping = false;
      this.#connection = undefined;
      connection.destroy();
    }
  }

  async #ring(): Promise<void> {
    this.#ringing = true;
    while (this.#wanted.size > 0 && !this.#over.signal.aborted) {
      const keys = [...this.#wanted];
      this.#wanted.clear();
      await this.#wake(keys).catch(() => {}); // a poll finds what is not heard
    }
    this.#ringing = false;
  }

  async #wake(keys: readonly string[]): Promise<void> {
    const others = new Set((await this.#bellsOf(keys)).filter((bell) => bell !== SILENT && bell !== this.#name));
    if (others.size === 0) return;
    await this.#client.with(async (connection) => {
      // Found and woken in one step: the number of a session that was looked up before may be another's by now.
      for (const bell of others)
        await this.#client.say(connection, `KILL QUERY IS_USED_LOCK('${lockOf(bell)}')`).catch((error) => {
          if (!isNobody(error)) throw error;
        });
    });
  }
}

const getLock = `SELECT GET_LOCK(?, 0) AS got, ${bare(open)} AS open`;

/** Names of bells come from the table: only what one of ours looks like goes into a statement. */
const lockOf = (bell: string): string => `holdfast:${bell.replace(/[^0-9a-f]/g, '').slice(0, 32)}`;

/** ER_QUERY_INTERRUPTED. */
const isInterrupted = (error: unknown): boolean => (error as { errno?: number }).errno === 1317;
/** ER_NO_SUCH_THREAD: nobody has that lock. */
const isNobody = (error: unknown): boolean => (error as { errno?: number }).errno === 1094;
