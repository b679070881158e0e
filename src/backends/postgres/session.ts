import type { Cancel, Clock } from '../../core/clock.ts';
import type { Dial, PgClient, Row } from './client.ts';

/** ms between two looks at whether an idle session is still there, and the longest that any answer may take. */
const PATIENCE = 5_000;
/** ms: as long as a timer of Node's can be set to. A limit that the application has for its own statements would end a wait. */
const UNLIMITED = 2 ** 31 - 1;

/**
 * What a server may otherwise do to a session that is silent or waits on purpose; each is set where the version knows it.
 * With keep-alives of its own, so that the server frees what a vanished client held within seconds, not hours; and what it does is
 * on disk when it is answered, where the server's default is not to wait for that.
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
/** Refused where the platform cannot tell, as on Windows: https://www.postgresql.org/docs/current/runtime-config-connection.html */
const CHECKS: typeof SETTINGS = { client_connection_check_interval: '5000' };
/** $2: the process it has to be, or null. That of a pooler in between is another client's in a moment. */
const CONFIGURE = `SELECT set_config(w.name, w.value, false)
  FROM json_each_text($1::json) AS w(name, value) JOIN pg_settings USING (name)
  WHERE pg_backend_pid() = coalesce($2::int, pg_backend_pid()) AND (name <> 'synchronous_commit' OR setting = 'off')`;

/** A connection of our own that is looked after: it ends when the server ends it, and when the server stops answering. */
export class Session {
  readonly #client: PgClient;
  readonly #clock: Clock;
  readonly #pooled: boolean;
  readonly #ended = new AbortController();
  #working = 0;
  #last: Promise<unknown> = Promise.resolve();
  #ping: Cancel = () => {};

  private constructor(client: PgClient, clock: Clock, pooled: boolean) {
    this.#client = client;
    this.#clock = clock;
    this.#pooled = pooled;
    // pg tells of an ended connection by either, and throws where nobody listens.
    client.on('error', () => this.cut());
    client.on('end', () => this.cut());
  }

  /** @param pooled a pooler in between is known to pool whole sessions */
  static async open(dial: Dial, clock: Clock, pooled = false): Promise<Session> {
    const client = dial();
    const session = new Session(client, clock, pooled);
    const late = clock.after(PATIENCE, () => session.cut());
    try {
      // Raced, for pg never settles a connect that was ended meanwhile.
      const cut = new Promise<never>((_, reject) => {
        session.ended.addEventListener('abort', () => reject(new Error('the connection was ended as it was made')));
      });
      await Promise.race([client.connect(), cut]);
      await session.query(CONFIGURE, [JSON.stringify(SETTINGS), session.own]);
      await session.query(CONFIGURE, [JSON.stringify(CHECKS), session.own]).catch(() => {});
    } catch (error) {
      session.cut();
      throw error;
    } finally {
      late();
    }
    session.#pingLater();
    return session;
  }

  /** Aborted once the connection is gone, whatever ended it. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * The server's process that every statement has to come to; null where it is not told. A pooler makes up the number that it
   * tells, and a transaction pooler may give every statement another process.
   */
  get own(): number | null {
    return this.#pooled ? null : (this.#client.processID ?? null);
  }

  /** Whether it talks to the very process it was connected to: through a pooler it does not. True where that is not told. */
  async isOwn(): Promise<boolean> {
    const own = this.own;
    if (own === null) return true;
    const [row] = await this.query('SELECT pg_backend_pid() AS pid');
    return Number(row!.pid) === own;
  }

  onNotification(hear: (mail: { readonly channel: string; readonly payload?: string }) => void): void {
    this.#client.on('notification', hear);
  }

  /** A statement; one that is not answered in time ends the session, for whatever comes after would only queue behind it. */
  async query(text: string, values: unknown[] = []): Promise<Row[]> {
    const late = this.#clock.after(PATIENCE, () => this.cut(), true);
    try {
      return await this.wait(text, values);
    } finally {
      late();
    }
  }

  /**
   * A statement that takes as long as it takes. One after the other: queueing inside pg is on its way out. Only while there is one
   * does the session keep the process alive: a script that has nothing else would end in the middle of its `await`.
   */
  async wait(text: string, values: unknown[]): Promise<Row[]> {
    if (this.#working++ === 0) this.#client.ref?.();
    const answer = this.#last.then(() => this.#client.query({ text, values, query_timeout: UNLIMITED }));
    this.#last = answer.catch(() => {});
    try {
      return (await answer).rows;
    } finally {
      if (--this.#working === 0) this.#client.unref?.();
    }
  }

  /** Ends it at once, without waiting for the server; what the session held there is freed when the server notices. */
  cut(): void {
    if (this.#ended.signal.aborted) return;
    this.#ping();
    this.#ended.abort();
    this.#client.end().catch(() => {});
    this.#client.connection?.stream?.destroy();
  }

  /** Says goodbye, so that what the session held is free when this resolves; cuts it off if that takes long. */
  async end(): Promise<void> {
    if (this.#ended.signal.aborted) return;
    this.#ping();
    const late = this.#clock.after(PATIENCE, () => this.cut());
    await this.#client.end().catch(() => {});
    late();
    this.cut();
  }

  /** What is busy is left alone: it has a limit of its own, or waits. */
  #pingLater(): void {
    this.#ping = this.#clock.after(
      PATIENCE,
      async () => {
        if (this.#working === 0) await this.query('SELECT 1').catch(() => this.cut());
        if (!this.#ended.signal.aborted) this.#pingLater();
      },
      true,
    );
  }
}
