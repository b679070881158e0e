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

/** The waiting callers of a shared run, in order of arrival. While the engine does not answer, each caller gives up after `MAX_OUTAGE_MS`. */
export class WaitingCallers {
  readonly #engine: Engine;
  readonly #key: string;
  readonly #onEmpty: () => void;
  readonly #callers = new Set<Caller>();
  readonly #began: number;
  #hasAnswer: boolean;
  #isSilent: boolean;

  /**
   * @param hasAnswer whether the engine has ever answered @param isSilent whether the engine did not answer the last request
   * @param onEmpty called at once when no caller is left
   */
  constructor(engine: Engine, key: string, hasAnswer: boolean, isSilent: boolean, onEmpty: () => void) {
    this.#engine = engine;
    this.#key = key;
    this.#began = engine.clock.now();
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

  /** Refuses a caller that does not wait. While an answer of the engine is overdue, it is unknown whether another caller runs. */
  refuse(caller: Caller): void {
    const isOverdue = this.#isSilent || this.#engine.clock.now() - this.#began >= CALL_TIMEOUT_MS;
    caller.reject(isOverdue && !this.hasAnswer ? this.#unanswered() : caller.timedOut());
  }

  /** Removes the `callers` that still wait, and calls `act` for each of them. */
  serve(act: (caller: Caller) => void, callers: readonly Caller[] = this.all): void {
    for (const caller of callers) if (this.#callers.delete(caller)) act(caller);
    this.checkEmpty();
  }

  reject(error: unknown, callers?: readonly Caller[]): void {
    this.serve((caller) => caller.reject(error), callers);
  }

  /** Ends the wait of `callers` with what is stored. It reads the head of the text once, and the body for each caller. */
  answer(value: StoredValue, callers?: readonly Caller[]): void {
    try {
      const stored = readStored(value.text, this.#key);
      this.serve((caller) => caller.settle(value, stored), callers);
    } catch (error) {
      this.reject(error, callers);
    }
  }

  /** Refuses the callers whose request is not that of the run. @param head is not refused here, but by its claim */
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

  /** Refuses the callers that have waited for `MAX_OUTAGE_MS`; the others keep waiting. @param head is refused in any case */
  noteSilence(head?: Caller, error?: LockError): void {
    this.#isSilent = true;
    const refused = this.all.filter((caller) => caller === head || this.hasWaited(caller));
    this.reject(error ?? this.#unanswered(), refused);
  }

  #unanswered(): LockError {
    return this.#engine.unavailable(this.#key, UNANSWERED, 'It was not run here; try again');
  }

  /** Whether a caller has waited for as long as an outage may last. */
  hasWaited({ began }: Caller): boolean {
    return this.#engine.clock.now() - began >= MAX_OUTAGE_MS;
  }

  /** During an outage, ends the claim when the last attempt for this caller must be over, unless the engine answers before. */
  limitClaim({ began }: Caller, claim: AbortController): Cancel | undefined {
    if (!this.#isSilent) return undefined;
    const { clock } = this.#engine;
    const remaining = Math.max(0, began + MAX_OUTAGE_MS + CALL_TIMEOUT_MS - clock.now());
    return clock.after(remaining, () => this.#isSilent && claim.abort(UNANSWERED));
  }
}
