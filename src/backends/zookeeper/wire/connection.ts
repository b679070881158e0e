import type { Socket } from 'node:net';
import type { Cancel, Clock } from '../../../core/index.ts';
import { ConnectionLost } from './errors.ts';
import { Frame, type Frames, int, long, record } from './jute.ts';
import { type Operation, sync } from './operations.ts';
import { type Pending, Requests, type Watcher } from './requests.ts';

/** Asks for a new session. */
export const NEW_SESSION = { id: 0n, password: new Uint8Array(16) };

/** The answer of the server to a session that is opened or resumed. A client that has id and password may resume it on another connection. */
export interface Welcome extends Readonly<typeof NEW_SESSION> {
  /** The session timeout that the server granted, ms. */
  readonly timeout: number;
}

const HEADER = record({ xid: int, zxid: long, code: int });
const WATCH_EVENT = -1;

// All limits are shares of the session timeout that the server granted.
/** How often a connection without recent writes sends a sign of life. */
export const BEAT_PART = 1 / 12;
/** A server is given up after this time without an answer. */
const ANSWER_PART = 1 / 3;
/**
 * A follower reports its clients' signs of life at least this often. The leader asks for them twice a tick, and a session lasts at
 * least two ticks, unless `minSessionTimeout` says otherwise. That makes a quarter, and a twelfth more for a leader that is late.
 */
export const REPORT_PART = 1 / 3;
/** If less than this is left at an answer, the session is resumed, so that the leader hears of it: the next report may be too late. */
export const SCARCE_PART = 1 / 3;
/** A session lasts this long after the leader last heard of it: a hundredth less, for clocks that run at different rates. */
export const SURE_PART = 0.99;

/**
 * One connection that carries a session. Requests are sent and answered in order. So several may be on their way, and a later one
 * sees what an earlier one did. A connection ends once: then every request fails and every watch tells.
 */
export class ZooKeeperConnection {
  readonly session: bigint;
  readonly welcome: Welcome;
  lastZxid: bigint;
  readonly #timeout: number;
  readonly #socket: Socket;
  readonly #frames: Frames;
  readonly #clock: Clock;
  readonly #requests = new Requests();
  readonly #lastHeard: LastHeard;
  /** When the last request was sent that the leader had a part in and that was answered. */
  #confirmed: number;
  /** This process or the server was stopped for so long that the session may be over before the next report counts. */
  #scarce = false;
  #cancelBeat: Cancel;
  #trouble: Error | undefined;
  readonly #ended = Promise.withResolvers<void>();

  /** @param sent when the handshake was sent: the leader hears of each session that is opened or resumed */
  constructor(socket: Socket, frames: Frames, welcome: Welcome, sent: number, lastZxid: bigint, clock: Clock) {
    this.session = welcome.id;
    this.welcome = welcome;
    this.lastZxid = lastZxid;
    this.#timeout = welcome.timeout;
    this.#socket = socket;
    this.#frames = frames;
    this.#lastHeard = new LastHeard(sent, welcome.timeout * REPORT_PART);
    this.#confirmed = sent;
    this.#clock = clock;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.end(error));
    socket.on('close', () => this.end(new ConnectionLost('the server closed the connection')));
    this.#cancelBeat = clock.after(this.#timeout * BEAT_PART, this.#beat, true);
  }

  /** The session and its nodes live until then, by the clock, even if the connection ends. */
  get sureUntil(): number {
    return this.#lastHeard.certain + this.#timeout * SURE_PART;
  }

  get alive(): boolean {
    return this.#trouble === undefined;
  }

  /** Settles when the connection has ended. Never rejects. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /**
   * @param watcher told once, when the data that was read has changed or the connection has ended
   * @throws KeeperError the server refused; ConnectionLost the outcome is unknown
   */
  request<T>(operation: Operation<T>, watcher?: Watcher): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (this.#trouble) reject(this.#trouble);
    else this.#send(this.#requests.add({ operation, sent: this.#clock.now(), resolve, reject, watcher }));
    return promise as Promise<T>;
  }

  /** Requests of one turn of the event loop leave in one packet. */
  #send(frame: Buffer): void {
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      process.nextTick(() => this.#socket.uncork());
    }
    this.#socket.write(frame);
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.take(chunk)) this.#answer(new Frame(frame));
    } catch (error) {
      this.end(error as Error);
    }
  }

  #answer(from: Frame): void {
    const { xid, zxid, code } = HEADER.read(from);
    if (zxid > this.lastZxid) this.lastZxid = zxid;
    if (xid === WATCH_EVENT) this.#requests.watches.event(from);
    else this.#noteAnswer(this.#requests.answer(xid, code, from));
  }

  /** @param sent undefined if the leader had no part in the answer */
  #noteAnswer(sent: number | undefined): void {
    if (sent === undefined) return;
    const now = this.#clock.now();
    this.#confirmed = sent;
    this.#lastHeard.noteAnswer(sent, now);
    this.#scarce = this.sureUntil - now < this.#timeout * SCARCE_PART;
  }

  /** Sends a sync, not a ping: a server that is cut off from the leader answers pings while the leader ends the session. */
  readonly #beat = (): void => {
    const now = this.#clock.now();
    const { oldest } = this.#requests;
    if (oldest && now - oldest.sent > this.#timeout * ANSWER_PART) {
      // If this process was stopped, the answer is here already, and is read before the next timer.
      this.#cancelBeat = this.#clock.after(1, () => this.#giveUp(oldest), true);
      return;
    }
    if (this.#scarce && !oldest) {
      this.end(new ConnectionLost('the session goes on over another connection, so that the leader hears of it'));
      return;
    }
    // Half a beat: a confirmation from just before this beat would be too old at the next one.
    if (now - this.#confirmed > (this.#timeout * BEAT_PART) / 2) this.request(sync).catch(() => {});
    this.#cancelBeat = this.#clock.after(this.#timeout * BEAT_PART, this.#beat, true);
  };

  #giveUp(unanswered: Pending): void {
    const { oldest } = this.#requests;
    if (oldest === unanswered) this.end(new ConnectionLost(`no answer to ${oldest.operation.name} in time`));
    else this.#beat();
  }

  end(trouble: Error): void {
    if (this.#trouble) return;
    this.#trouble =
      trouble instanceof ConnectionLost ? trouble : new ConnectionLost(trouble.message, { cause: trouble });
    this.#cancelBeat();
    this.#socket.destroy();
    this.#requests.fail(this.#trouble);
    this.#requests.watches.end();
    this.#ended.resolve();
  }
}

/** How many exchanges are remembered for the time between two reports, at most. More would hardly add anything. */
const MAX_EXCHANGES = 16;

/**
 * When, at the earliest, the leader has last heard of a session whose client is connected to any server.
 *
 * The leader does not learn of a client by its requests, not even by those that it has a part in. It learns of it when the session is
 * opened or resumed, and then by the follower's reports, from time to time. So an exchange alone proves nothing: the follower may end
 * before it reports. An exchange counts after a later one was answered with the leader's help, if that was sent so long after the
 * answer to the first that a report must lie between them. Then the follower was there to report.
 * @see https://github.com/apache/zookeeper/blob/master/zookeeper-server/src/main/java/org/apache/zookeeper/server/quorum/LearnerSessionTracker.java
 */
export class LastHeard {
  /** By the clock. */
  certain: number;
  readonly #report: number;
  /** Answered requests; times are by the clock. */
  readonly #unreported: { readonly sent: number; readonly answeredAt: number }[] = [];

  /** @param opened when the session was asked to be opened or resumed @param report longest time between two reports of a follower, ms */
  constructor(opened: number, report: number) {
    this.certain = opened;
    this.#report = report;
  }

  /** To be called in the order in which the requests were sent. */
  noteAnswer(sent: number, answeredAt: number): void {
    let reported = 0;
    for (const earlier of this.#unreported) {
      if (earlier.answeredAt + this.#report > sent) break;
      this.certain = earlier.sent;
      reported++;
    }
    this.#unreported.splice(0, reported);
    const last = this.#unreported.at(-1);
    if (!last || sent >= last.sent + this.#report / MAX_EXCHANGES) this.#unreported.push({ sent, answeredAt });
  }
}
