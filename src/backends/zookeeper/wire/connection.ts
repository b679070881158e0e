import type { Socket } from 'node:net';
import type { Cancel, Clock } from '../../../core/clock.ts';
import { ConnectionLost } from './errors.ts';
import type { Frames } from './frames.ts';
import type { Welcome } from './handshake.ts';
import { Decoder } from './jute.ts';
import { LastHeard } from './last-heard.ts';
import { type Operation, sync } from './operations.ts';
import { type Pending, Requests } from './requests.ts';
import { BEAT, PATIENCE, REPORT, SCARCE, SURE } from './timing.ts';
import { type Watcher, Watches } from './watches.ts';

const WATCH_EVENT = -1;
/**
 * One connection that carries a session. Requests are sent and answered in order, so that several may be on their way, and
 * the last of them sees what the first has done. It ends once: then every request fails and every watch tells.
 */
export class Connection {
  readonly session: bigint;
  /** Settles when the connection has ended. Never rejects. */
  readonly ended: Promise<void>;
  lastZxid: bigint;
  readonly #timeout: number;
  readonly #socket: Socket;
  readonly #frames: Frames;
  readonly #clock: Clock;
  readonly #watches = new Watches();
  readonly #requests = new Requests(this.#watches);
  readonly #heard: LastHeard;
  /** When the last answered exchange was sent that the leader had a part in. */
  #confirmed: number;
  /** This process or the server stood still for so long that what is certain may be over before the server's next report shows. */
  #scarce = false;
  #cancelBeat: Cancel;
  #trouble: Error | undefined;
  #settle = (): void => {};

  /** @param sent when the handshake was sent: the leader hears of a session that is opened or resumed */
  constructor(socket: Socket, frames: Frames, welcome: Welcome, sent: number, lastZxid: bigint, clock: Clock) {
    this.session = welcome.id;
    this.lastZxid = lastZxid;
    this.#timeout = welcome.timeout;
    this.#socket = socket;
    this.#frames = frames;
    this.#heard = new LastHeard(sent, welcome.timeout * REPORT);
    this.#confirmed = sent;
    this.#clock = clock;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.end(error));
    socket.on('close', () => this.end(new ConnectionLost('the server closed the connection')));
    this.#cancelBeat = clock.after(this.#timeout * BEAT, this.#beat, true);
  }

  /** Until then, by the clock, the session and its nodes live, whatever happens to the connection. */
  get sureUntil(): number {
    return this.#heard.certain + this.#timeout * SURE;
  }

  get alive(): boolean {
    return this.#trouble === undefined;
  }

  /**
   * @param watcher told once, when what the operation has read has changed or the connection has ended
   * @throws KeeperError the server refused; ConnectionLost nobody knows
   */
  request<T>(operation: Operation<T>, watcher?: Watcher): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (this.#trouble) reject(this.#trouble);
    else this.#send(this.#requests.add({ operation, sent: this.#clock.now(), resolve, reject, watcher }));
    return promise as Promise<T>;
  }

  /** Requests made in one go leave in one packet. */
  #send(frame: Buffer): void {
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      process.nextTick(() => this.#socket.uncork());
    }
    this.#socket.write(frame);
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.take(chunk)) this.#answer(new Decoder(frame));
    } catch (error) {
      this.end(error as Error);
    }
  }

  #answer(from: Decoder): void {
    const xid = from.int();
    const zxid = from.long();
    const code = from.int();
    if (zxid > this.lastZxid) this.lastZxid = zxid;
    if (xid === WATCH_EVENT) this.#watches.event(from);
    else this.#answered(this.#requests.answer(xid, code, from));
  }

  /** @param sent undefined where the leader had no part in it */
  #answered(sent: number | undefined): void {
    if (sent === undefined) return;
    const now = this.#clock.now();
    this.#confirmed = sent;
    this.#heard.answered(sent, now);
    this.#scarce = this.sureUntil - now < this.#timeout * SCARCE;
  }

  /** A sync, not a ping: a server that is cut off from the leader answers pings, while the leader ends the session. */
  readonly #beat = (): void => {
    const now = this.#clock.now();
    const { oldest } = this.#requests;
    if (oldest && now - oldest.sent > this.#timeout * PATIENCE) {
      // If it was this process that stood still, the answer is here and will be read before the next timer.
      this.#cancelBeat = this.#clock.after(1, () => this.#giveUp(oldest), true);
      return;
    }
    if (this.#scarce && !oldest) {
      this.end(
        new ConnectionLost('the session is resumed on another connection, for the leader to hear of it at once'),
      );
      return;
    }
    // Half a beat: what was confirmed a moment before this one would be too old at the next.
    if (now - this.#confirmed > (this.#timeout * BEAT) / 2) this.request(sync).catch(() => {});
    this.#cancelBeat = this.#clock.after(this.#timeout * BEAT, this.#beat, true);
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
    this.#watches.end();
    this.#settle();
  }
}
