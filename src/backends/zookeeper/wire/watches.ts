import type { Decoder } from './jute.ts';
import type { Operation } from './operations.ts';

const DELETED = 2;
const CHILDREN_CHANGED = 4;

/** Told once. A watcher that is over is forgotten, since a node may be there for longer than many wait. */
export interface Watcher {
  (): void;
  isOver?(): boolean;
}

/**
 * The watchers that are told when a node changes. As on the server, a watch tells once, and it ends with its connection. Then every watcher is told,
 * looks again and sets a new watch; the next server is not asked for the same watches.
 */
export class Watches {
  readonly #waiting = new Map<string, Watcher[]>();

  add({ kind, path }: NonNullable<Operation<unknown>['watches']>, watcher: Watcher): void {
    const name = `${kind} ${path}`;
    const others = this.#waiting.get(name) ?? [];
    // Only at 1, 2, 4, 8…: a look at all watchers each time would cost the square of their number.
    const isTime = (others.length & (others.length - 1)) === 0;
    const left = isTime ? others.filter((other) => !other.isOver?.()) : others;
    left.push(watcher);
    this.#waiting.set(name, left);
  }

  /** What the server sends when something has happened. */
  event(from: Decoder): void {
    const type = from.int();
    from.int(); // state of the session
    const path = from.text();
    if (type !== CHILDREN_CHANGED) this.#tell(`node ${path}`);
    if (type === CHILDREN_CHANGED || type === DELETED) this.#tell(`children ${path}`);
  }

  end(): void {
    for (const name of [...this.#waiting.keys()]) this.#tell(name);
  }

  #tell(name: string): void {
    const told = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    for (const tell of told) tell();
  }
}
