import {
  CALL_TIMEOUT_MS,
  type Cancel,
  type Engine,
  type LockError,
  MAX_OUTAGE_MS,
  type StoredValue,
  UNANSWERED,
} from '../core/index.ts';
import type { Caller } from './caller.ts';
import { readStored } from './entry.ts';
import { differ, mismatch } from './match.ts';

/**
 * The callers of a shared run that wait, in the order in which they came. While the engine does not answer, each of them gives up when it
 * has waited for `MAX_OUTAGE_MS`.
 */
export class WaitingCallers {
  readonly #engine: Engine;
  readonly #key: string;
  readonly #onEmpty: () => void;
  readonly #callers = new Set<Caller>();
  #hasAnswer: boolean;
  #isSilent: boolean;

  /**
   * @param hasAnswer whether the engine has ever answered @param isSilent whether it did not answer the last request
   * @param onEmpty called at once when no caller is left
   */
  constructor(engine: Engine, key: string, hasAnswer: boolean, isSilent: boolean, onEmpty: () => void) {
    this.#engine = engine;
    this.#key = key;
    this.#hasAnswer = hasAnswer;
    this.#isSilent = isSilent;
    this.#onEmpty = onEmpty;
  }

  get hasAnswer(): boolean {
    return this.#hasAnswer;
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

  /** @returns whether the caller still waited */
  remove(caller: Caller): boolean {
    return this.#callers.delete(caller);
  }

  /** Removes those of `callers` that still wait, and calls `act` for each. */
  serve(act: (caller: Caller) => void, callers: readonly Caller[] = this.all): void {
    for (const caller of callers) if (this.#callers.delete(caller)) act(caller);
    this.checkEmpty();
  }

  reject(error: unknown, callers?: readonly Caller[]): void {
    this.serve((caller) => caller.reject(error), callers);
  }

  /** Ends the wait of `callers` with what is stored. The head of the text is read once, the body for each caller. */
  answer(value: StoredValue, callers?: readonly Caller[]): void {
    try {
      const stored = readStored(value.text, this.#key);
      this.serve((caller) => caller.settle(value, stored), callers);
    } catch (error) {
      this.reject(error, callers);
    }
  }

  /** Refuses the callers of another request than that of the run. @param head is spared: its claim refuses it */
  refuseOthers(mark: string, head?: Caller): void {
    const others = this.all.filter((caller) => caller !== head && differ(caller.plan.match, mark));
    this.serve((caller) => caller.reject(mismatch(caller.plan)), others);
  }

  checkEmpty(): void {
    if (this.#callers.size === 0) this.#onEmpty();
  }

  noteAnswer(): void {
    this.#hasAnswer = true;
    this.#isSilent = false;
  }

  /** Refuses the callers that have waited long enough; the others go on. @param head is refused in any case */
  noteSilence(head?: Caller, error?: LockError): void {
    this.#isSilent = true;
    const why = error ?? this.#engine.unavailable(this.#key, UNANSWERED, 'It was not run here; try again');
    this.reject(
      why,
      this.all.filter((caller) => caller === head || this.hasWaited(caller)),
    );
  }

  /** Whether a caller has waited for as long as an outage may last. */
  hasWaited({ began }: Caller): boolean {
    return this.#engine.clock.now() - began >= MAX_OUTAGE_MS;
  }

  /** During an outage, ends the claim of a caller at the time when its last attempt must be over, unless the engine answers before. */
  limitClaim({ began }: Caller, claim: AbortController): Cancel | undefined {
    if (!this.#isSilent) return undefined;
    const { clock } = this.#engine;
    const remaining = Math.max(0, began + MAX_OUTAGE_MS + CALL_TIMEOUT_MS - clock.now());
    return clock.after(remaining, () => this.#isSilent && claim.abort(UNANSWERED));
  }
}
