import { Code, KeeperError } from './errors.ts';
import { Draft, int, type JuteFrame, record, text } from './jute.ts';
import type { Operation } from './operations.ts';

export interface Pending {
  readonly operation: Operation<unknown>;
  /** When the request was sent, by the clock. */
  readonly sent: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly watcher?: Watcher;
}

const HEADER = record({ xid: int, code: int });

/** The unanswered requests of one connection, in the order in which they were sent. */
export class Requests {
  readonly watches = new Watches();
  readonly #pending = new Map<number, Pending>();
  #xid = 0;

  get oldest(): Pending | undefined {
    return this.#pending.values().next().value;
  }

  /** @returns the frame to send */
  add(pending: Pending): Buffer {
    const { operation, watcher } = pending;
    this.#xid = (this.#xid + 1) & 0x7fffffff;
    const xid = operation.xid ?? this.#xid;
    const draft = new Draft();
    HEADER.write(draft, { xid, code: operation.code });
    operation.write(draft, watcher !== undefined);
    this.#pending.set(xid, pending);
    return draft.frame();
  }

  /**
   * @returns when the request was sent, if the leader had a part in the answer
   * @throws an error that ends the connection, for an answer without a request and for the end of the session
   */
  answer(xid: number, code: number, from: JuteFrame): number | undefined {
    const pending = this.#pending.get(xid);
    if (!pending) throw new RangeError(`an answer to request ${xid}, which nobody has made`);
    const { operation, sent, watcher, resolve, reject } = pending;
    if (code === Code.sessionExpired) throw new KeeperError(code, operation.name);
    // The watch is added before the next frame is read, since that frame may be the event of this watch.
    const { watches } = operation;
    const isSet = code === 0 || (code === Code.noNode && watches?.ifMissing);
    if (isSet && watcher && watches) this.watches.add(watches, watcher);
    if (code === 0) resolve(operation.read(from));
    else reject(new KeeperError(code, operation.name));
    this.#pending.delete(xid);
    return operation.viaLeader ? sent : undefined;
  }

  fail(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

const EVENT = record({ type: int, sessionState: int, path: text });
const DELETED = 2;
const CHILDREN_CHANGED = 4;

/** A watcher is called once. A watcher that is over is forgotten: many claims may come and go while one node exists. */
export interface Watcher {
  (): void;
  isOver?(): boolean;
}

/** The watchers of nodes. A watch fires once, and ends with its connection: then each watcher is called, looks again and sets a watch on the next. */
export class Watches {
  readonly #waiting = new Map<string, Set<Watcher>>();

  add({ kind, path }: NonNullable<Operation<unknown>['watches']>, watcher: Watcher): void {
    const name = `${kind} ${path}`;
    const watchers = this.#waiting.get(name) ?? new Set();
    // Watchers that are over are removed only at a count of 1, 2, 4, 8…: to look at all watchers each time would cost the square of their number.
    const isTime = (watchers.size & (watchers.size - 1)) === 0;
    if (isTime) for (const other of watchers) if (other.isOver?.()) watchers.delete(other);
    this.#waiting.set(name, watchers.add(watcher));
  }

  /** @param unset asks the server to forget its watch of the node: called if no other watcher is left */
  async remove(path: string, watcher: Watcher, unset: () => Promise<void>): Promise<void> {
    const name = `node ${path}`;
    const watchers = this.#waiting.get(name);
    if (!watchers?.delete(watcher) || watchers.size > 0) return;
    this.#waiting.delete(name);
    await unset();
    this.#notify(name); // the server has also forgotten a watch that was on its way to it: its watcher looks again
  }

  event(from: JuteFrame): void {
    const { type, path } = EVENT.read(from);
    if (type !== CHILDREN_CHANGED) this.#notify(`node ${path}`);
    if (type === CHILDREN_CHANGED || type === DELETED) this.#notify(`children ${path}`);
  }

  end(): void {
    for (const name of [...this.#waiting.keys()]) this.#notify(name);
  }

  #notify(name: string): void {
    const watchers = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    for (const watcher of watchers) watcher();
  }
}
