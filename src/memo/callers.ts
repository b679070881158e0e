import type { StoredValue } from '../core/index.ts';
import type { Caller } from './caller.ts';
import { differ, mismatch } from './inquiry.ts';
import { readStored } from './words.ts';

/** The callers of a flight that wait, in the order in which they came. */
export class WaitingCallers {
  readonly #key: string;
  readonly #onEmpty: () => void;
  readonly #callers = new Set<Caller>();

  /** @param onEmpty called in the turn in which the last ones were served */
  constructor(key: string, onEmpty: () => void) {
    this.#key = key;
    this.#onEmpty = onEmpty;
  }

  get size(): number {
    return this.#callers.size;
  }

  get first(): Caller | undefined {
    return this.#callers.values().next().value;
  }

  get all(): Caller[] {
    return [...this.#callers];
  }

  add(caller: Caller): void {
    this.#callers.add(caller);
  }

  /** @returns whether it still waited */
  remove(caller: Caller): boolean {
    return this.#callers.delete(caller);
  }

  /** Serves those of `callers` that still wait. */
  serve(act: (caller: Caller) => void, callers: readonly Caller[] = this.all): void {
    for (const caller of callers) if (this.#callers.delete(caller)) act(caller);
    this.tellIfEmpty();
  }

  /** Gives them what is left. Its form is read once for all of them, its body by each. */
  answer(left: StoredValue, callers?: readonly Caller[]): void {
    try {
      const stored = readStored(left.text, this.#key);
      this.serve((caller) => caller.settle(left, stored), callers);
    } catch (error) {
      this.serve((caller) => caller.reject(error), callers);
    }
  }

  /** Tells those that are of another request than the run they would wait for. @param head hears it from its claim */
  refuseOthers(mark: string, backend: string, head?: Caller): void {
    const others = this.all.filter((caller) => caller !== head && differ(caller.plan.match, mark));
    this.serve((caller) => caller.reject(mismatch(caller.plan, backend)), others);
  }

  tellIfEmpty(): void {
    if (this.#callers.size === 0) this.#onEmpty();
  }
}
