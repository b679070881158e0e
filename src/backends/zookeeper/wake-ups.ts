import type { Clock } from '../../core/contract/clock.ts';
import { list, stat } from './nodes.ts';
import type { Connection } from './wire/connection.ts';
import type { Watcher } from './wire/requests.ts';

/** The pause before a failed look is repeated, ms. Meanwhile core asks by its own timer. */
const PAUSE = 250;

/** Keeps one waiting claim informed until it is disposed of: each time a watch fires, it looks and watches again. */
export class LineWatch implements AsyncDisposable {
  readonly #look: (tell: Watcher) => Promise<boolean>;
  readonly #trouble: () => void;
  readonly #clock: Clock;
  #over = false;
  #turn = 0;
  #cancel = (): void => {};

  /**
   * @param look sets the one-time watch that is needed now; resolves to whether there is still something to wait for
   * @param trouble called when `look` has failed
   */
  constructor(look: (tell: Watcher) => Promise<boolean>, trouble: () => void, clock: Clock) {
    this.#look = look;
    this.#trouble = trouble;
    this.#clock = clock;
  }

  /** Settles when the first watch is set. Never rejects. */
  async arm(): Promise<void> {
    if (this.#over) return;
    const turn = ++this.#turn;
    // Only the first watch of this turn that fires starts the next turn. Otherwise a line would be watched twice.
    const isOver = (): boolean => this.#over || turn !== this.#turn;
    const tell = (): void => {
      if (!isOver()) void this.arm();
    };
    try {
      if (!(await this.#look(Object.assign(tell, { isOver })))) this.#over = true;
    } catch {
      if (this.#over) return;
      this.#cancel = this.#clock.after(PAUSE, () => void this.arm(), true);
      this.#trouble();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    this.#cancel();
  }
}

/** Sets the first watch of each, and ends them together. */
export async function armed(watches: readonly LineWatch[]): Promise<AsyncDisposable> {
  await Promise.all(watches.map((watch) => watch.arm()));
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()));
    },
  };
}

/** Tells once when a node under `parent` is made or removed, or when the connection ends. */
export async function watchChildren(
  connection: Connection,
  parent: string,
  tell: () => void,
): Promise<AsyncDisposable> {
  let over = false;
  const tellOnce = (): void => {
    if (over) return;
    over = true;
    tell();
  };
  const watcher = Object.assign(tellOnce, { isOver: () => over });
  const { asOf } = await list(connection, parent, watcher);
  // A missing node has no children to watch. If it was made since, its children can be watched after all.
  if (asOf === 0n && (await stat(connection, parent, watcher))) await list(connection, parent, watcher);
  return {
    [Symbol.asyncDispose]: async () => {
      over = true;
    },
  };
}
