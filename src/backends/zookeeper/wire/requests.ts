import { Code, KeeperError } from './errors.ts';
import { type Decoder, Encoder } from './jute.ts';
import type { Operation } from './operations.ts';
import type { Watcher, Watches } from './watches.ts';

/** A request without an answer yet. */
export interface Pending {
  readonly operation: Operation<unknown>;
  /** By the clock. */
  readonly sent: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly watcher?: Watcher;
}

/** The unanswered requests of one connection, in the order in which they were sent. */
export class Requests {
  readonly #pending = new Map<number, Pending>();
  readonly #watches: Watches;
  #xid = 0;

  constructor(watches: Watches) {
    this.#watches = watches;
  }

  get oldest(): Pending | undefined {
    return this.#pending.values().next().value;
  }

  /** @returns the frame to send */
  add(pending: Pending): Buffer {
    const { operation, watcher } = pending;
    this.#xid = (this.#xid + 1) & 0x7fffffff;
    const xid = operation.xid ?? this.#xid;
    const request = new Encoder().int(xid).int(operation.code);
    operation.encode(request, watcher !== undefined);
    this.#pending.set(xid, pending);
    return request.frame();
  }

  /**
   * @returns when it was sent, if the leader had a part in the answer
   * @throws what ends the connection: an answer without a request, or the end of the session
   */
  answer(xid: number, code: number, from: Decoder): number | undefined {
    const pending = this.#pending.get(xid);
    if (!pending) throw new RangeError(`an answer to request ${xid}, which nobody has made`);
    const { operation, sent, watcher, resolve, reject } = pending;
    if (code === Code.sessionExpired) throw new KeeperError(code, operation.name);
    // The watch is added before the next frame is read: that may be the event it waits for.
    const { watches } = operation;
    const isSet = code === 0 || (code === Code.noNode && watches?.ifMissing);
    if (isSet && watcher && watches) this.#watches.add(watches, watcher);
    if (code === 0) resolve(operation.decode(from));
    else reject(new KeeperError(code, operation.name));
    this.#pending.delete(xid);
    return operation.viaLeader ? sent : undefined;
  }

  fail(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
