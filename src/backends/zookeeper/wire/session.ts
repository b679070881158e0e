import type { Cancel, Clock } from '../../../core/clock.ts';
import { LockError } from '../../../core/errors.ts';
import type { Connection } from './connection.ts';
import { ConnectionLost, KeeperError } from './errors.ts';
import { NOBODY } from './handshake.ts';
import { type Opened, open, SessionExpired, type Wishes } from './open.ts';
import { closeSession } from './operations.ts';
import { rotation, type Server } from './servers.ts';
import { Waiters } from './waiters.ts';

/** Pauses between rounds over servers that cannot be had: the first, doubled up to the last. ms. */
const FIRST_PAUSE = 20;
const LAST_PAUSE = 1_000;
/** Rounds over all servers after which whoever waits is told that none can be had; the search goes on. */
const ROUNDS = 4;
/** How long closing waits for a server that does not answer. ms. */
const LAST_WORD = 2_000;

const closed = (): LockError => new LockError('LOCK_CLOSED', 'these locks were closed', { backend: 'zookeeper' });

/** Whoever has nodes that live and die with a session. */
export interface Witness {
  /** A connection has begun that carries this session or a new one. */
  connected(connection: Connection): void;
  /** The session is over, and its nodes with it. */
  expired(session: bigint): void;
  /** Nobody has been reached for so long that the session may be over. It may also come back. */
  doubtful(session: bigint): void;
}

/**
 * A session kept over whichever of the servers can be had: opened when first asked for, carried on over a new connection
 * when one ends, begun anew when it has expired. Its nodes belong to `Connection.session`.
 */
export class Session {
  readonly #servers: readonly Server[];
  readonly #wishes: Wishes;
  readonly #clock: Clock;
  readonly #witness: Witness;
  readonly #waiters: Waiters<Connection>;
  #current: Opened | undefined;
  #running: Promise<void> | undefined;
  #trouble: unknown;
  #closed = false;
  readonly #over = new AbortController();
  #stop: Cancel = () => {};
  #cancelDoubt: Cancel = () => {};

  constructor(servers: readonly Server[], wishes: Wishes, clock: Clock, witness: Witness) {
    this.#servers = servers;
    this.#wishes = wishes;
    this.#clock = clock;
    this.#witness = witness;
    this.#waiters = new Waiters(clock);
  }

  /** What the server granted; what was asked for before there was an answer. ms. */
  get timeout(): number {
    return this.#current?.welcome.timeout ?? this.#wishes.timeout;
  }

  /**
   * A connection that is alive as far as anyone knows.
   * @param within how long to wait for one, ms
   * @throws ConnectionLost none to be had, with the last trouble as its cause; KeeperError refused for good;
   * LockError `LOCK_CLOSED`
   */
  connection(within: number): Promise<Connection> {
    const current = this.#current?.connection;
    if (current?.alive) return Promise.resolve(current);
    if (this.#closed) return Promise.reject(closed());
    this.#running ??= this.#run();
    return this.#waiters.wait(within, () => this.#nobody());
  }

  #nobody(): ConnectionLost {
    const { message } = this.#trouble instanceof Error ? this.#trouble : { message: 'no answer yet' };
    return new ConnectionLost(`no ZooKeeper server could be had: ${message}`, { cause: this.#trouble });
  }

  /** Opens one connection after the other, until closed. */
  async #run(): Promise<void> {
    const next = rotation(this.#servers, () => this.#clock.random());
    for (let failures = 0; !this.#closed; ) {
      try {
        const opened = await this.#open(next.next().value);
        failures = 0;
        this.#waiters.resolve(opened.connection);
        this.#witness.connected(opened.connection);
        await opened.connection.ended;
        this.#doubtLater(opened.connection);
        await this.#pause(0);
      } catch (error) {
        if (error instanceof SessionExpired && this.#current) this.#forget(this.#current.welcome.id);
        else {
          this.#trouble = error;
          await this.#pause(failures++);
          // A server that refuses our credentials will refuse them for whoever asks next, too.
          if (error instanceof KeeperError) this.#waiters.reject(error);
          else if (failures >= ROUNDS * this.#servers.length) this.#waiters.reject(this.#nobody());
        }
      }
    }
  }

  async #open(server: Server): Promise<Opened> {
    const { welcome, connection } = this.#current ?? { welcome: NOBODY, connection: undefined };
    // Every server is tried before the session, of which up to a half may have passed, is over.
    const within = Math.max(250, this.timeout / (3 * this.#servers.length));
    // A server that knows less than we have seen turns us away unheard. Once the session is in doubt, and with it all that we
    // held, it may also be one that has lost its data, and will never know more: it is to say whether there is a session.
    const last = connection && this.#clock.now() < connection.sureUntil ? connection.lastZxid : 0n;
    const opened = await open(server, welcome, last, this.#wishes, within, this.#clock, this.#over.signal);
    this.#current = opened;
    this.#cancelDoubt();
    if (this.#closed) opened.connection.end(new ConnectionLost('closed'));
    return opened;
  }

  /** The server cannot tell us while we do not reach it. */
  #doubtLater({ session, sureUntil }: Connection): void {
    const left = Math.max(0, sureUntil - this.#clock.now());
    this.#cancelDoubt = this.#clock.after(left, () => this.#witness.doubtful(session), true);
  }

  #forget(session: bigint): void {
    this.#cancelDoubt();
    this.#current = undefined;
    this.#witness.expired(session);
  }

  /** Longer after each round over all servers. */
  async #pause(failures: number): Promise<void> {
    if (this.#closed) return;
    const rounds = Math.floor(failures / this.#servers.length);
    const full = Math.min(FIRST_PAUSE * 2 ** Math.min(rounds, 16), LAST_PAUSE);
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(full * (0.5 + this.#clock.random() / 2), resolve, true);
      this.#stop = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Ends the session, so that its nodes go at once; if it cannot be reached they go when it expires. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiters.reject(closed());
    const connection = this.#current?.connection;
    const cancel = this.#clock.after(LAST_WORD, () => connection?.end(new ConnectionLost('closed')));
    await connection?.request(closeSession).catch(() => {});
    cancel();
    connection?.end(new ConnectionLost('closed'));
    this.#over.abort();
    this.#stop();
    await this.#running;
    this.#cancelDoubt();
  }
}
