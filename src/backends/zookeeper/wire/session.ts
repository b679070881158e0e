import { type Cancel, LockError, Sleeper, withLimit } from '../../../core/index.ts';
import { NEW_SESSION, type ZooKeeperConnection } from './connection.ts';
import { ConnectionLost, KeeperError } from './errors.ts';
import { open, rotation, type ServerAddress, SessionExpired, type SessionSettings } from './open.ts';
import { closeSession } from './operations.ts';

/** The first pause between rounds over unreachable servers, and the longest; it doubles. ms. */
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1_000;
/** After so many rounds over all servers, callers that wait get an error. The search goes on. */
const MAX_ROUNDS = 4;
/** How long closing waits for a server that does not answer. ms. */
const MAX_CLOSE_MS = 2_000;

/** Nobody may wait, so a rejection may have no listener. */
function pending(): PromiseWithResolvers<ZooKeeperConnection> {
  const next = Promise.withResolvers<ZooKeeperConnection>();
  next.promise.catch(() => {});
  return next;
}

const closedError = (): LockError => new LockError('LOCK_CLOSED', 'these locks were closed', { backend: 'zookeeper' });

/** The owner of the nodes of a session. */
interface Witness {
  /** There is a new connection, which carries this session or a new one. */
  onConnection(connection: ZooKeeperConnection): void;
  /** The session is over, and its nodes with it. */
  onExpiry(session: bigint): void;
  /** No server was reached for so long that the session may be over. It may also come back. */
  doubtful(session: bigint): void;
}

/**
 * A session over any of the servers. It is opened when first asked for, resumed on a new connection when one ends, and replaced by a new one when
 * it has expired. Its nodes belong to `Connection.session`.
 */
export class ZooKeeperSession {
  readonly #settings: SessionSettings;
  readonly #witness: Witness;
  /** The next connection, or the next failure. */
  #next = pending();
  #current: ZooKeeperConnection | undefined;
  #running: Promise<void> | undefined;
  #trouble: unknown;
  #closed = false;
  readonly #over = new AbortController();
  readonly #sleeper: Sleeper;
  #cancelDoubt: Cancel = () => {};

  constructor(settings: SessionSettings, witness: Witness) {
    this.#settings = settings;
    this.#witness = witness;
    this.#sleeper = new Sleeper(settings.clock);
  }

  /** The timeout that the server granted; before its answer, the one that was asked for. ms. */
  get timeout(): number {
    return this.#current?.welcome.timeout ?? this.#settings.timeout;
  }

  /**
   * A connection that is alive, as far as this process knows.
   * @param within how long to wait for one, ms
   * @throws ConnectionLost there is none, and the last failure is the cause; KeeperError a server refused; LockError `LOCK_CLOSED`
   */
  connection(within: number): Promise<ZooKeeperConnection> {
    const current = this.#current;
    if (current?.alive) return Promise.resolve(current);
    if (this.#closed) return Promise.reject(closedError());
    this.#running ??= this.#run();
    return withLimit(this.#next.promise, within, () => this.#nobody(), this.#settings.clock);
  }

  #nobody(): ConnectionLost {
    const { message } = this.#trouble instanceof Error ? this.#trouble : { message: 'no answer yet' };
    return new ConnectionLost(`no ZooKeeper server could be had: ${message}`, { cause: this.#trouble });
  }

  #settleNext(settle: (next: PromiseWithResolvers<ZooKeeperConnection>) => void): void {
    settle(this.#next);
    this.#next = pending();
  }

  async #run(): Promise<void> {
    const next = rotation(this.#settings.servers, () => this.#settings.clock.random());
    for (let failures = 0; !this.#closed; ) {
      try {
        const opened = await this.#open(next.next().value);
        failures = 0;
        this.#settleNext(({ resolve }) => resolve(opened));
        this.#witness.onConnection(opened);
        await opened.ended;
        this.#doubtLater(opened);
        await this.#pause(0);
      } catch (error) {
        if (error instanceof SessionExpired && this.#current) this.#forget(this.#current.session);
        else {
          this.#trouble = error;
          await this.#pause(failures++);
          // A server that refuses our credentials will refuse them again.
          if (error instanceof KeeperError) this.#settleNext(({ reject }) => reject(error));
          else if (failures >= MAX_ROUNDS * this.#settings.servers.length)
            this.#settleNext(({ reject }) => reject(this.#nobody()));
        }
      }
    }
  }

  async #open(server: ServerAddress): Promise<ZooKeeperConnection> {
    const before = this.#current;
    // Every server is tried before the session is over, of which up to a half may have passed.
    const within = Math.max(250, this.timeout / (3 * this.#settings.servers.length));
    // A server that knows less than we have seen closes the connection. But once the session and all our holds are in doubt, such a
    // server may also have lost its data, and may never know more. Then it must say whether the session exists.
    const last = before && this.#settings.clock.now() < before.sureUntil ? before.lastZxid : 0n;
    const opened = await open(server, before?.welcome ?? NEW_SESSION, last, this.#settings, within, this.#over.signal);
    this.#current = opened;
    this.#cancelDoubt();
    if (this.#closed) opened.end(new ConnectionLost('closed'));
    return opened;
  }

  /** The server cannot tell us that the session is over while we do not reach it. */
  #doubtLater({ session, sureUntil }: ZooKeeperConnection): void {
    const left = Math.max(0, sureUntil - this.#settings.clock.now());
    this.#cancelDoubt = this.#settings.clock.after(left, () => this.#witness.doubtful(session), true);
  }

  #forget(session: bigint): void {
    this.#cancelDoubt();
    this.#current = undefined;
    this.#witness.onExpiry(session);
  }

  async #pause(failures: number): Promise<void> {
    const rounds = Math.floor(failures / this.#settings.servers.length);
    const full = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(rounds, 16), MAX_PAUSE_MS);
    await this.#sleeper.sleep(full * (0.5 + this.#settings.clock.random() / 2), true);
  }

  /** Ends the session, so that its nodes are removed at once. If no server is reached, they are removed when it expires. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#settleNext(({ reject }) => reject(closedError()));
    const connection = this.#current;
    const cancel = this.#settings.clock.after(MAX_CLOSE_MS, () => connection?.end(new ConnectionLost('closed')));
    await connection?.request(closeSession).catch(() => {});
    cancel();
    connection?.end(new ConnectionLost('closed'));
    this.#over.abort();
    this.#sleeper.wake();
    await this.#running;
    this.#cancelDoubt();
  }
}
