import type { Claim, RegisterEntry, RegisterStore } from '../../core/index.ts';
import { WaitingClaims } from '../shared/waiting-claims.ts';
import type { OpenQueue } from './open-queue.ts';

/** The claims of this process that wait for one key, or have held it for a while, and the one watch of the store that serves them. */
export class KeyWatch {
  readonly #waiting = new WaitingClaims();
  readonly #holds = new WaitingClaims();
  readonly #learn: (entry: RegisterEntry) => OpenQueue;
  readonly #over: () => void;
  readonly #armed: Promise<AsyncDisposable>;

  /** @param over told when nobody waits any more, and the watch has ended */
  constructor(store: RegisterStore, name: string, learn: (entry: RegisterEntry) => OpenQueue, over: () => void) {
    this.#learn = learn;
    this.#over = over;
    this.#armed = (async () => store.watch!(name, (entry) => this.#tell(entry)))();
    this.#armed.catch(over); // the next waiter tries again, with a watch of its own
  }

  async add(claim: Claim, wake: () => void, holds = false): Promise<AsyncDisposable> {
    const mine = (holds ? this.#holds : this.#waiting).watch(claim, wake, () => this.#left());
    await this.#armed;
    return mine;
  }

  /** Silent while a claim still waits: a queue changes with every sign of life in it. */
  #tell(entry: RegisterEntry | undefined): void {
    let queue: OpenQueue | undefined;
    try {
      queue = entry && this.#learn(entry);
    } catch {} // the attempt that follows says what is wrong
    for (const { claim, wake } of [...this.#waiting.values()]) {
      const mine = queue?.find(claim.id);
      if (!mine || mine.held) wake();
    }
    for (const { claim, wake } of [...this.#holds.values()]) if (!queue?.find(claim.id)?.held) wake();
  }

  #left(): void {
    if (this.#waiting.size + this.#holds.size > 0) return;
    this.#over();
    this.#armed.then((watch) => watch[Symbol.asyncDispose]()).catch(() => {});
  }
}
