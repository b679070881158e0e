import { backOff, type Cancel, LockError, Sleeper, withLimit } from '../../../core/index.ts';
import { NEW_SESSION, type ZooKeeperConnection } from './connection.ts';
import { ConnectionLost, KeeperError } from './errors.ts';
import { open, rotation, type ServerAddress, SessionExpired, type SessionSettings } from './open.ts';
import { closeSession } from './operations.ts';

/** The pause between rounds over unreachable servers, ms. */
const ROUNDS = { pause: 20, bound: 1_000, jitter: 0.5 };
/** After this number of failed rounds over all servers, waiting callers get an error. The search goes on. */
const MAX_ROUNDS = 4;
/** How long closing waits for a server that does not answer, ms. */
const MAX_CLOSE_MS = 2_000;

/** If no caller waits for the promise, its rejection does no harm. */
function pending(): PromiseWithResolvers<ZooKeeperConnection> {
  const next = Promise.withResolvers<ZooKeeperConnection>();
  next.promise.catch(() => {});
  return next;
}

const closedError = (): LockError => new LockError('LOCK_CLOSED', 'these locks were closed', { backend: 'zookeeper' });

/** What the session reports to the owner of its nodes. */
interface SessionEvents {
  /** There is a new connection, which carries this session or a new session. */
  onConnection(connection: ZooKeeperConnection): void;
  /** The session is over, and its nodes with it. */
  onExpiry(session: bigint): void;
  /** The session may be over: no server was reached for a long time. It may also come back. */
  doubtful(session: bigint): void;
}

/** A session with any of the servers, opened by its first caller. If its connection ends, another resumes it; if it expires, a new one is opened. */
export class ZooKeeperSession {
  readonly #settings: SessionSettings;
  readonly #owner: SessionEvents;
  /** The next connection, or the next failure. */
  #next = pending();
  #current: ZooKeeperConnection | undefined;
  #running: Promise<void> | undefined;
  #trouble: unknown;
  #closed = false;
  readonly #over = new AbortController();
  readonly #sleeper: Sleeper;
  #cancelDoubt: Cancel = () => {};

  constructor(settings: SessionSettings, owner: SessionEvents) {
    this.#settings = settings;
    this.#owner = owner;
    this.#sleeper = new Sleeper(settings.clock);
  }

  /** The timeout that the server granted; before its answer, the timeout that was asked for. ms. */
  get timeout(): number {
    return this.#current?.welcome.timeout ?? this.#settings.timeout;
  }

  /**
   * A connection that is alive, as far as this process knows.
   * @param within how long to wait for a connection, ms
   * @throws ConnectionLost if no server could be reached, with the last failure as its cause; KeeperError if a server refused; LockError `LOCK_CLOSED`
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
        this.#owner.onConnection(opened);
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
    // Up to half of the session timeout may have passed. So all servers together get a third of it, and are tried before the session is over.
    const within = Math.max(250, this.timeout / (3 * this.#settings.servers.length));
    // A server that has not applied `last` closes the connection. But if the session is in doubt, its holds are lost, and the servers may have
    // lost their data for good. Then 0 is sent: any server may say whether the session exists.
    const last = before && this.#settings.clock.now() < before.sureUntil ? before.lastZxid : 0n;
    const opened = await open(server, before?.welcome ?? NEW_SESSION, last, this.#settings, within, this.#over.signal);
    this.#current = opened;
    this.#cancelDoubt();
    if (this.#closed) opened.end(new ConnectionLost('closed'));
    return opened;
  }

  /** While no server is reached, no server can say that the session is over. So from the time when it may be over, the session is in doubt. */
  #doubtLater({ session, sureUntil }: ZooKeeperConnection): void {
    const remaining = Math.max(0, sureUntil - this.#settings.clock.now());
    this.#cancelDoubt = this.#settings.clock.after(remaining, () => this.#owner.doubtful(session), true);
  }

  #forget(session: bigint): void {
    this.#cancelDoubt();
    this.#current = undefined;
    this.#owner.onExpiry(session);
  }

  async #pause(failures: number): Promise<void> {
    const rounds = Math.floor(failures / this.#settings.servers.length);
    await this.#sleeper.sleep(backOff(ROUNDS, rounds, this.#settings.clock.random()), true);
  }

  /** Ends the session, so that its nodes are removed at once. If no server is reached, the nodes are removed when the session expires. */
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
