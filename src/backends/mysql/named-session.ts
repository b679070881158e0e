import type { Grant } from '../../core/index.ts';
import type { Connection, Header, Row, Value } from './connection.ts';
import { destroy } from './pool.ts';
import * as sql from './sql.generated.ts';
import { asText, type NamedValues } from './statements.ts';
import type { Table } from './table.ts';

/** Names a lock, and the row of its tokens. */
export interface LockName extends Record<string, Value> {
  readonly database: string;
  readonly name: Buffer;
}

/** A key that no row has. */
const NO_KEY = Buffer.from([0]);

/**
 * A connection of its own for one claim. It waits for a named lock, then has it. The server frees the lock when the connection ends,
 * for any reason. So in any doubt we end the connection.
 */
export class NamedSession {
  readonly #table: Table;
  readonly #lock: LockName;
  readonly #lost = new AbortController();
  readonly #over = new AbortController();
  readonly #onLoss = (): void => this.#end();
  readonly #killOwner = (session: string): Promise<unknown> =>
    this.#table.server.kill(asText(sql.killOwner, { session }, this.#lock));
  #connection: Connection | undefined;
  #grant: Grant | undefined;
  #ended = false;

  constructor(table: Table, lock: LockName) {
    this.#table = table;
    this.#lock = lock;
  }

  /** Undefined before it has the lock, and after it has ended. */
  get grant(): Grant | undefined {
    return this.#ended ? undefined : this.#grant;
  }

  get ended(): boolean {
    return this.#ended;
  }

  async open(): Promise<void> {
    const connection = await this.#table.server.connection();
    if (this.#ended) return connection.release();
    connection.on('error', this.#onLoss);
    connection.on('end', this.#onLoss);
    this.#connection = connection;
  }

  /**
   * Waits on the server for as long as `seconds`.
   * @returns the grant; undefined when others have the lock; `late` when the server got this after `notAfter`
   */
  async take(seconds: number, notAfter: string, minToken: bigint): Promise<Grant | 'late' | undefined> {
    const [row] = (await this.#run(sql.getLock, { wait: `${seconds}`, notAfter })) as Row[];
    this.#table.learn(row!.now);
    const got = row!.got === null ? undefined : Number(row!.got);
    if (got === undefined) throw this.#failure('GET_LOCK was interrupted');
    if (got !== 1) return got < 0 ? 'late' : undefined;
    const token = (await this.#token(minToken)) ?? (await this.#firstToken(minToken));
    if (this.#ended) throw new Error('the connection has ended');
    this.#grant = { granted: true, token, validFor: Number.POSITIVE_INFINITY, lost: this.#lost.signal };
    return this.#grant;
  }

  /** Whether the lock is still this session's, on a server that takes writes: after a fail-over another one gives locks. */
  async check(): Promise<boolean> {
    const [row] = (await this.#run(sql.ownsLock)) as Row[];
    if (Number(row!.mine) !== 1) this.#end();
    else await this.#run(sql.swap, { name: NO_KEY, old: NO_KEY, new: '' });
    return !this.#ended;
  }

  /** Frees the lock and gives the connection back to the pool. @returns whether this freed it */
  async release(): Promise<boolean> {
    if (!this.#grant || this.#ended) {
      this.end();
      return false;
    }
    this.#grant = undefined;
    const [row] = (await this.#run(sql.releaseLock)) as Row[];
    if (Number(row!.freed) !== 1) {
      this.#end();
      return false;
    }
    this.leave();
    return true;
  }

  /** Gives the connection back. It must not have the lock. */
  leave(): void {
    this.#ended = true;
    const connection = this.#detach();
    connection?.removeListener('error', this.#onLoss);
    connection?.release();
  }

  /** Ends the connection, and with it the lock or the wait. */
  end(): void {
    this.#end((session) => this.#table.server.kill(`KILL ${session}`));
  }

  /** @param kill ends the session on the server, which may notice the end late: while it waits, or when no goodbye came through */
  #end(kill = this.#killOwner): void {
    if (this.#ended) return;
    this.#ended = true;
    const connection = this.#detach();
    if (connection) destroy(connection);
    this.#over.abort();
    if (connection) kill(`${Number(connection.threadId)}`).catch(() => {}); // most likely it has ended already
    if (this.#grant) this.#lost.abort(new Error('the connection that had the lock has ended'));
  }

  #detach(): Connection | undefined {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.removeListener('end', this.#onLoss);
    return connection; // the listener for errors stays: without one, an error would end the process
  }

  async #token(minToken: bigint): Promise<bigint | undefined> {
    const header = (await this.#run(sql.token, { minToken: `${minToken}` })) as Header;
    return header.affectedRows > 0 ? BigInt(header.insertId) : undefined;
  }

  async #firstToken(minToken: bigint): Promise<bigint> {
    await this.#run(sql.create);
    const token = await this.#token(minToken);
    if (token === undefined) throw this.#failure('the row of the tokens vanished');
    return token;
  }

  #failure(message: string): Error {
    this.#end();
    return new Error(message);
  }

  async #run(text: string, values: NamedValues = {}): Promise<unknown> {
    if (!this.#connection) throw new Error('the connection has ended');
    try {
      const statement = this.#table.bind(text, { ...this.#lock, ...values });
      return await this.#table.server.on(this.#connection, statement, this.#over.signal);
    } catch (error) {
      this.#end();
      throw error;
    }
  }
}
