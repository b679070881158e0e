import type { Claim } from '../../core/contract/backend.ts';
import type { RegisterEntry, RegisterStore } from '../../core/contract/register-store.ts';
import { WaitingClaims } from '../shared/waiting-claims.ts';
import type { OpenLine } from './line.ts';

/** The claims of this process that wait for one key, and the one watch of the store that serves them. */
export class KeyWatch {
  readonly #waiting = new WaitingClaims();
  readonly #learn: (entry: RegisterEntry) => OpenLine;
  readonly #over: () => void;
  readonly #armed: Promise<AsyncDisposable>;

  /** @param over told when nobody waits any more, and the watch has ended */
  constructor(store: RegisterStore, name: string, learn: (entry: RegisterEntry) => OpenLine, over: () => void) {
    this.#learn = learn;
    this.#over = over;
    this.#armed = (async () => store.watch!(name, (entry) => this.#tell(entry)))();
    this.#armed.catch(over); // the next waiter tries again, with a watch of its own
  }

  async add(claim: Claim, wake: () => void): Promise<AsyncDisposable> {
    const mine = this.#waiting.watch(claim, wake, () => this.#left());
    await this.#armed;
    return mine;
  }

  /** Silent while a claim still waits: a line changes with every sign of life in it. */
  #tell(entry: RegisterEntry | undefined): void {
    let places: OpenLine['places'] | undefined;
    try {
      places = entry && this.#learn(entry).places;
    } catch {} // the attempt that follows says what is wrong
    for (const { claim, wake } of [...this.#waiting.values()]) {
      const place = places?.find(({ id }) => id === claim.id);
      if (!place || place.held) wake();
    }
  }

  #left(): void {
    if (this.#waiting.size > 0) return;
    this.#over();
    this.#armed.then((watch) => watch[Symbol.asyncDispose]()).catch(() => {});
  }
}
