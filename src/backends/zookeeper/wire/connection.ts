import type { Socket } from 'node:net';
import type { Cancel, Clock } from '../../../core/clock.ts';
import { Code, ConnectionLost, KeeperError } from './errors.ts';
import type { Frames } from './frames.ts';
import type { Welcome } from './handshake.ts';
import { Decoder, Encoder } from './jute.ts';
import { type Operation, sync } from './operations.ts';
import { BEAT, PATIENCE, SURE } from './timing.ts';
import { Watches } from './watches.ts';

const WATCH_EVENT = -1;
interface Pending {
  readonly operation: Operation<unknown>;
  readonly sent: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly watcher?: () => void;
}

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
  readonly #pending = new Map<number, Pending>();
  /** When the last exchange was sent that the leader had a part in. */
  #confirmed: number;
  #xid = 0;
  #cancelBeat: Cancel;
  #trouble: Error | undefined;
  #settle = (): void => {};

  /** @param sent when the handshake was sent: opening or resuming a session takes the leader's word */
  constructor(socket: Socket, frames: Frames, welcome: Welcome, sent: number, lastZxid: bigint, clock: Clock) {
    this.session = welcome.id;
    this.lastZxid = lastZxid;
    this.#timeout = welcome.timeout;
    this.#socket = socket;
    this.#frames = frames;
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
    return this.#confirmed + this.#timeout * SURE;
  }

  get alive(): boolean {
    return this.#trouble === undefined;
  }

  /**
   * @param watcher told once, when what the operation has read has changed or the connection has ended
   * @throws KeeperError the server refused; ConnectionLost nobody knows
   */
  request<T>(operation: Operation<T>, watcher?: () => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#trouble) return reject(this.#trouble);
      this.#xid = (this.#xid + 1) & 0x7fffffff;
      const xid = operation.xid ?? this.#xid;
      const request = new Encoder().int(xid).int(operation.code);
      operation.encode(request, watcher !== undefined);
      const sent = this.#clock.now();
      this.#pending.set(xid, { operation, sent, resolve: resolve as (value: unknown) => void, reject, watcher });
      this.#send(request.frame());
    });
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
    else this.#settleRequest(xid, code, from);
  }

  #settleRequest(xid: number, code: number, from: Decoder): void {
    const pending = this.#pending.get(xid);
    if (!pending) throw new RangeError(`an answer to request ${xid}, which nobody has made`);
    const { operation, sent, watcher, resolve, reject } = pending;
    if (code === Code.sessionExpired) throw new KeeperError(code, operation.name);
    if (operation.viaLeader && sent > this.#confirmed) this.#confirmed = sent;
    // Before any later frame is read: the event that this watch waits for may be the next one.
    if (code === 0 && watcher && operation.watches) this.#watches.add(operation.watches, watcher);
    if (code === 0) resolve(operation.decode(from));
    else reject(new KeeperError(code, operation.name));
    this.#pending.delete(xid);
  }

  /** A sync, not a ping: a server that is cut off from the leader answers pings, while the leader ends the session. */
  readonly #beat = (): void => {
    const oldest = this.#pending.values().next().value;
    if (oldest && this.#clock.now() - oldest.sent > this.#timeout * PATIENCE) {
      this.end(new ConnectionLost(`no answer to ${oldest.operation.name} in time`));
      return;
    }
    if (!oldest) this.request(sync).catch(() => {});
    this.#cancelBeat = this.#clock.after(this.#timeout * BEAT, this.#beat, true);
  };

  end(trouble: Error): void {
    if (this.#trouble) return;
    this.#trouble =
      trouble instanceof ConnectionLost ? trouble : new ConnectionLost(trouble.message, { cause: trouble });
    this.#cancelBeat();
    this.#socket.destroy();
    for (const { reject } of this.#pending.values()) reject(this.#trouble);
    this.#pending.clear();
    this.#watches.end();
    this.#settle();
  }
}
