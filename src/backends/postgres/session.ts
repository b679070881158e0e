import { CallTimeouts, type Cancel, type Clock } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import { isReadOnly } from './errors.ts';
import type { Dial, PgClient, PoolRow } from './pool.ts';

/** The longest wait for an answer, and the pause between two looks at an idle session, ms. */
const MAX_ANSWER_MS = 5_000;
/** The longest timer of Node, ms. It means no limit of pg, since the limit that the application sets for its own statements may be shorter than ours. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The settings of a session. Limits of the server are off, since they would end a session that is silent or waits on purpose. By keep-alives
 * the server notices within seconds, not hours, that a client is gone. With `synchronous_commit`, a step is on disk when its answer comes, even
 * if the server's default is off. `CONFIGURE` leaves out a setting that this version of the server does not have.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '11000',
  synchronous_commit: 'on',
};
/** Asks whether the server takes no writes. Such a server may be the old primary of a fail-over, where locks keep nobody out and nobody notifies. */
const IS_READ_ONLY = "SELECT current_setting('transaction_read_only') AS read_only";
/** Some platforms, such as Windows, refuse this setting: https://www.postgresql.org/docs/current/runtime-config-connection.html */
const CHECKS: typeof SETTINGS = { client_connection_check_interval: '5000' };
/** Makes the settings $1 if the server process is $2, or $2 is null. Any other process is a pooler's, and soon serves another client. */
const CONFIGURE = `SELECT set_config(w.name, w.value, false)
  FROM json_each_text($1::json) AS w(name, value) JOIN pg_settings USING (name)
  WHERE pg_backend_pid() = coalesce($2::int, pg_backend_pid()) AND (name <> 'synchronous_commit' OR setting = 'off')`;

/** A connection of our own. It ends when the server closes it, stops answering, or turns out to take no writes. */
export class Session {
  readonly #client: PgClient;
  readonly #clock: Clock;
  readonly #pooled: boolean;
  readonly #ended = new AbortController();
  readonly #timeouts: CallTimeouts;
  #working = 0;
  #last: Promise<unknown> = Promise.resolve();
  #ping: Cancel = () => {};

  private constructor(client: PgClient, clock: Clock, pooled: boolean) {
    this.#client = client;
    this.#clock = clock;
    this.#timeouts = new CallTimeouts(clock);
    this.#pooled = pooled;
    // pg reports the end of a connection by either of these events, and throws an `error` that has no listener.
    client.on('error', () => this.cut());
    client.on('end', () => this.cut());
  }

  /** @param pooled whether the connection goes through a pooler of whole sessions */
  static async open(dial: Dial, clock: Clock, pooled = false): Promise<Session> {
    const client = dial();
    const session = new Session(client, clock, pooled);
    const late = clock.after(MAX_ANSWER_MS, () => session.cut());
    try {
      // A race: `connect` of pg never settles if the connection is ended meanwhile.
      const cut = new Promise<never>((_, reject) => {
        session.ended.addEventListener('abort', () => reject(new Error('the connection was ended as it was made')));
      });
      await Promise.race([client.connect(), cut]);
      await session.query(CONFIGURE, [JSON.stringify(SETTINGS), session.own]);
      await session.query(CONFIGURE, [JSON.stringify(CHECKS), session.own]).catch(() => {});
      session.ended.throwIfAborted();
    } catch (error) {
      session.cut();
      throw error;
    } finally {
      late();
    }
    const pause = (): number => MAX_ANSWER_MS;
    session.#ping = repeat(clock, pause, () => session.#look());
    return session;
  }

  /** A signal that aborts once the connection has ended, for any reason. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * The number of the server's process that must get all statements; null if it is not known, or a pooler of whole sessions is declared. A
   * pooler invents a number of its own, and a transaction pooler may send each statement to another process.
   */
  get own(): number | null {
    return this.#pooled ? null : (this.#client.processID ?? null);
  }

  /** Whether the process that answers is `own`, and so no pooler is in between. Also true if `own` is not known. */
  async isOwn(): Promise<boolean> {
    const own = this.own;
    if (own === null) return true;
    const [row] = await this.query('SELECT pg_backend_pid()::text AS pid');
    return Number(row!.pid) === own;
  }

  onNotification(listener: (notification: { readonly channel: string; readonly payload?: string }) => void): void {
    this.#client.on('notification', listener);
  }

  /**
   * Sends a statement, after the statement before has ended: later versions of pg do not queue statements. If no answer comes in time, the session
   * ends: later statements would only wait behind this one. The time begins as the statement is sent, since hundreds of them may wait for their
   * turn on a session that is well. Meanwhile this process stays alive: a script that does nothing else would end in the middle of its `await`.
   */
  async query(text: string, values: unknown[] = [], limit = MAX_ANSWER_MS): Promise<PoolRow[]> {
    if (this.#working++ === 0) this.#client.ref?.();
    const answer = this.#last.then(() => {
      const call = this.#timeouts.begin(limit, () => this.cut());
      const sent = this.#client.query({ text, values, query_timeout: MAX_TIMER_MS });
      return sent.finally(() => this.#timeouts.end(call));
    });
    this.#last = answer.catch(() => {});
    try {
      return (await answer).rows;
    } catch (error) {
      if (isReadOnly(error)) this.cut();
      throw error;
    } finally {
      if (--this.#working === 0) this.#client.unref?.();
    }
  }

  /** Ends the session at once, without a wait for the server. The server frees the locks when it notices. */
  cut(): void {
    if (this.#ended.signal.aborted) return;
    this.#ping();
    this.#timeouts.endTimers();
    this.#ended.abort();
    this.#client.end().catch(() => {});
    this.#client.connection?.stream?.destroy();
  }

  /** Ends the session in order: its locks are free when this resolves. If that takes too long, cuts the connection. */
  async end(): Promise<void> {
    if (this.#ended.signal.aborted) return;
    this.#ping();
    const late = this.#clock.after(MAX_ANSWER_MS, () => this.cut());
    await this.#client.end().catch(() => {});
    late();
    this.cut();
  }

  /** Cuts a session that does not answer or takes no writes. A busy one needs no look: its statement has a limit. */
  async #look(): Promise<void> {
    if (this.#working > 0) return;
    const [row] = await this.query(IS_READ_ONLY).catch(() => []);
    if (row?.read_only !== 'off') this.cut();
  }
}
