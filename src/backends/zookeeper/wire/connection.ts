import type { Socket } from 'node:net';
import { CALL_TIMEOUT_MS, type Cancel, type Clock } from '../../../core/index.ts';
import { ConnectionLost } from './errors.ts';
import { type Frames, int, JuteFrame, long, record } from './jute.ts';
import { type Operation, removeWatch, sync } from './operations.ts';
import { type Pending, Requests, type Watcher } from './requests.ts';

/** The identity that asks for a new session. */
export const NEW_SESSION = { id: 0n, password: new Uint8Array(16) };

/** The answer to the opening or resumption of a session. By id and password, the client may resume the session on another connection. */
export interface Welcome extends Readonly<typeof NEW_SESSION> {
  /** The session timeout that the server granted, ms. */
  readonly timeout: number;
}

const HEADER = record({ xid: int, zxid: long, code: int });
const WATCH_EVENT = -1;

// Limits are parts of the session timeout that the server granted.
/** The time between two signs of life of a connection without other requests. */
export const BEAT_PART = 1 / 12;
/** After this time without an answer, 5 s at most, the connection is ended: at the next sign of life. */
const ANSWER_PART = 1 / 3;
/**
 * The longest time between two reports of a follower about its clients' signs of life. The leader asks for a report every half tick, and a
 * session lasts at least two ticks, unless `minSessionTimeout` is lower. So this time is a quarter of the session timeout, plus a twelfth for a late leader.
 */
export const REPORT_PART = 1 / 3;
/** If less than this remains when an answer comes, the next report may be too late. So another connection resumes the session: the leader learns of that. */
export const SCARCE_PART = 1 / 3;
/** A session lasts for its timeout after the leader last heard of it. A hundredth is taken off for clocks that run at different rates. */
export const SURE_PART = 0.99;

/**
 * One connection that carries a session. Requests are sent and answered in order. So several requests may be on their way, and a later
 * one sees the effect of an earlier one. When the connection ends, every request fails and every watch fires.
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
  /** The sending time of the last answered request in which the leader had a part, by the clock. */
  #confirmed: number;
  /** Whether the session may end before the next report, since too little time remains: this process or the server was stopped for a while. */
  #scarce = false;
  #cancelBeat: Cancel;
  #trouble: Error | undefined;
  readonly #ended = Promise.withResolvers<void>();

  /** @param sent when the request to open or resume the session was sent: the leader learns of this request */
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

  /** The time, by the clock, until which the session and its nodes live, even if the connection ends. */
  get sureUntil(): number {
    return this.#lastHeard.certain + this.#timeout * SURE_PART;
  }

  get alive(): boolean {
    return this.#trouble === undefined;
  }

  /** Resolves when the connection has ended, and never rejects. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /**
   * @param watcher called once, when the data that was read has changed or the connection has ended
   * @throws KeeperError the server refused; ConnectionLost the outcome is unknown
   */
  request<T>(operation: Operation<T>, watcher?: Watcher): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (this.#trouble) reject(this.#trouble);
    else this.#send(this.#requests.add({ operation, sent: this.#clock.now(), resolve, reject, watcher }));
    return promise as Promise<T>;
  }

  /** Ends the watch of a node for one watcher. */
  unwatch(path: string, watcher: Watcher): void {
    this.#requests.watches.remove(path, watcher, () => this.request(removeWatch(path))).catch(() => {});
  }

  /** Requests of one turn of the event loop are sent in one packet. */
  #send(frame: Buffer): void {
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      process.nextTick(() => this.#socket.uncork());
    }
    this.#socket.write(frame);
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.take(chunk)) this.#answer(new JuteFrame(frame));
    } catch (error) {
      this.end(error as Error);
    }
  }

  #answer(from: JuteFrame): void {
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

  /** Sends a sync, not a ping: a server that is cut off from the leader still answers pings while the leader ends the session. */
  readonly #beat = (): void => {
    const now = this.#clock.now();
    const { oldest } = this.#requests;
    if (oldest && now - oldest.sent > Math.min(this.#timeout * ANSWER_PART, CALL_TIMEOUT_MS)) {
      // If this process was stopped, the answer may have arrived meanwhile. Node reads it before the next timer.
      this.#cancelBeat = this.#clock.after(1, () => this.#giveUp(oldest), true);
      return;
    }
    if (this.#scarce && !oldest) {
      this.end(new ConnectionLost('the session goes on over another connection, so that the leader hears of it'));
      return;
    }
    // The limit is half a beat. With a whole beat, a request that is almost one beat old now would be almost two beats old at the next beat.
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

/** The largest number of exchanges to remember for the time between two reports. More would hardly make the result better. */
const MAX_EXCHANGES = 16;

/**
 * A lower bound of the time at which the leader last heard of a session.
 *
 * The leader does not learn of a client by its requests, even if the leader has a part in them. It learns of the client when the session is
 * opened or resumed, and then by a report of the follower from time to time. So an exchange of request and answer alone proves nothing: the
 * follower may end before it reports. A later exchange with the leader proves an earlier one, if the later request was sent so long after
 * the earlier answer that the follower has reported in between.
 * @see https://github.com/apache/zookeeper/blob/master/zookeeper-server/src/main/java/org/apache/zookeeper/server/quorum/LearnerSessionTracker.java
 */
export class LastHeard {
  /** The lower bound, by the clock. */
  certain: number;
  readonly #report: number;
  /** Answered requests that are perhaps not reported yet. Times are by the clock. */
  readonly #unreported: { readonly sent: number; readonly answeredAt: number }[] = [];

  /** @param opened when the request to open or resume the session was sent @param report longest time between two reports of a follower, ms */
  constructor(opened: number, report: number) {
    this.certain = opened;
    this.#report = report;
  }

  /** Call this in the order in which the requests were sent. */
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
