import { type Cancel, type Claim, type Clock, type Grant, LockError, onceFor } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import type { LockSession, SessionSource } from '../shared/session-locks.ts';
import { settingsOf } from './check.ts';
import { translateError } from './errors.ts';
import { type Connection, destroy, type Header, type PoolRow } from './pool.ts';
import { FOREVER } from './queues.ts';
import * as sql from './sql.generated.ts';
import { asText, type NamedValues } from './statements.ts';
import type { Table } from './table.ts';

/** The longest time of one wait on the server, s. */
const WAIT_SECONDS = 5;
/** The longest pause between two looks at a held lock, ms. The pause is shorter if the server soon ends idle sessions. */
const KEEP_ALIVE_MS = 10_000;

/**
 * The connection of one claim, on which it waits for a named lock and then holds it. The server frees the lock when the connection ends,
 * for any reason, so in any doubt we end the connection. While the lock is held, we send a statement now and then: so we notice a
 * connection that ended silently, and the server does not end the session as idle.
 */
export class NamedSession implements LockSession {
  readonly #table: Table;
  readonly #ended = new AbortController();
  readonly #repeat: (act: () => unknown) => Cancel;
  #connection: Connection | undefined;
  /** `name`: of the lock, and of the row with its tokens. `own`: of a lock that this session alone has while it waits. */
  #lock: NamedValues = { database: '', name: '', own: '' };
  #has = false;
  #stopLooking: Cancel = () => {};

  /** @param repeat repeats the look at a held lock */
  constructor(table: Table, connection: Connection, repeat: (act: () => unknown) => Cancel) {
    this.#table = table;
    this.#connection = connection;
    this.#repeat = repeat;
    connection.on('error', this.cut);
    connection.on('end', this.cut);
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  take(lock: string, { within, minToken = 0n }: Claim): Promise<Grant | 'late' | undefined> {
    return this.#ask(lock, 0, this.#table.limit(within), minToken);
  }

  async wait(lock: string, { minToken = 0n }: Claim): Promise<Grant | undefined> {
    try {
      for (;;) {
        const answer = await this.#ask(lock, WAIT_SECONDS, FOREVER, minToken);
        if (typeof answer === 'object') return answer;
      }
    } catch {
      return undefined;
    }
  }

  async cancel(): Promise<void> {
    this.cut();
  }

  /** Asks whether this session still has the lock, and the server takes writes: after a fail-over, another server grants the locks. */
  async confirm(): Promise<boolean> {
    const [row] = (await this.#run(sql.ownsLock)) as PoolRow[];
    if (Number(row!.mine) !== 1) this.cut();
    else await this.#run(sql.probe);
    return this.#connection !== undefined;
  }

  async unlock(): Promise<boolean> {
    if (!this.#has) return false;
    this.#has = false;
    this.#stopLooking();
    const [row] = (await this.#run(sql.releaseLock)) as PoolRow[];
    const freed = Number(row!.freed) === 1;
    if (!freed) this.cut();
    return freed;
  }

  /** Gives the connection back to the pool. The session must not have the lock. */
  leave(): void {
    const connection = this.#detach();
    connection?.removeListener('error', this.cut);
    connection?.release();
  }

  /** Ends the connection and its session on the server, and with it the lock or the wait. By itself the server may notice the end late. */
  readonly cut = (): void => {
    const connection = this.#detach();
    if (!connection) return;
    destroy(connection);
    this.#ended.abort(new Error('the connection that had the lock has ended'));
    const kill = asText(sql.killOwner, { session: `${Number(connection.threadId)}` }, this.#lock);
    this.#table.server.kill(kill).catch(() => {}); // most likely the session has ended already
  };

  #detach(): Connection | undefined {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#stopLooking();
    connection?.removeListener('end', this.cut);
    return connection; // its listener for errors stays: without a listener, an error would end the process
  }

  /** @param seconds how long the server waits @param notAfter the server's time after which the lock must not be taken */
  async #ask(lock: string, seconds: number, notAfter: string, minToken: bigint): Promise<Grant | 'late' | undefined> {
    const own = `holdfast:${this.#table.server.clock.id()}`;
    this.#lock = { ...this.#table.address, name: Buffer.from(lock), own };
    const [row] = (await this.#run(sql.getLock, { wait: `${seconds}`, notAfter })) as PoolRow[];
    this.#table.learn(row!.now);
    const got = row!.got === null ? undefined : Number(row!.got);
    if (got === undefined) throw this.#failure('GET_LOCK was interrupted');
    if (got !== 1) return got < 0 ? 'late' : undefined;
    const token = await this.#token(minToken);
    if (!this.#connection) throw new Error('the connection has ended');
    this.#has = true;
    this.#stopLooking = this.#repeat(() => this.confirm());
    return { granted: true, token, validFor: Number.POSITIVE_INFINITY, lost: this.ended };
  }

  async #token(minToken: bigint, isNew = false): Promise<bigint> {
    const header = (await this.#run(sql.token, { minToken: `${minToken}` })) as Header;
    if (header.affectedRows > 0) return BigInt(header.insertId);
    if (isNew) throw this.#failure('the row of the tokens vanished');
    await this.#run(sql.create);
    return this.#token(minToken, true);
  }

  #failure(message: string): Error {
    this.cut();
    return new Error(message);
  }

  async #run(text: string, values: NamedValues = {}): Promise<unknown> {
    if (!this.#connection) throw new Error('the connection has ended');
    try {
      const statement = this.#table.bind(text, { ...this.#lock, ...values });
      return await this.#table.server.on(this.#connection, statement, this.ended);
    } catch (error) {
      this.cut();
      throw error;
    }
  }
}

/** Sessions over connections of the pool, which limits their number. */
export class NamedSessions implements SessionSource<NamedSession> {
  readonly single = true;
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #open = new Set<NamedSession>();
  /** ms after which the server ends an idle session. Read only once: later, holds may use all connections of the pool. */
  readonly #idleLimit = onceFor(() => this.#askIdleLimit());

  constructor(table: Table, clock: Clock) {
    this.#table = table;
    this.#clock = clock;
  }

  async toAsk(): Promise<NamedSession> {
    try {
      await this.#table.ready();
      const pause = Math.min(KEEP_ALIVE_MS, (await this.#idleLimit()) / 3);
      const connection = await this.#table.server.connection();
      const session = new NamedSession(this.#table, connection, (act) => repeat(this.#clock, () => pause, act));
      this.#open.add(session);
      session.ended.addEventListener('abort', () => this.#open.delete(session));
      return session;
    } catch (error) {
      throw translateError(error, this.#table.backend);
    }
  }

  toWait(): Promise<NamedSession> {
    return this.toAsk();
  }

  done(session: NamedSession): void {
    this.#open.delete(session);
    session.leave();
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#open].map(async (session) => {
        if (await session.unlock().catch(() => false)) this.done(session);
        else session.cut(); // it does not have the lock yet, or could not free it
      }),
    );
  }

  async #askIdleLimit(): Promise<number> {
    const settings = await settingsOf(this.#table);
    if (settings('wsrep_on') === 'ON') {
      const message =
        'mysql-named cannot lock here: named locks are of one node, and this is a Galera cluster. Use mysql()';
      throw new LockError('LOCK_UNSUPPORTED', message, { backend: 'mysql-named' });
    }
    return Number(settings('wait_timeout')) * 1_000;
  }
}
