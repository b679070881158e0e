import { CALL_TIMEOUT, type Cancel, type Engine, type LockError, TROUBLE, UNANSWERED } from '../core/index.ts';
import type { Caller } from './caller.ts';
import type { WaitingCallers } from './callers.ts';

/** Whether the engine answers a flight, and how long its callers wait where it does not: each has its own time. */
export class Trouble {
  readonly #engine: Engine;
  readonly #callers: WaitingCallers;
  /** Whether the engine has ever answered. */
  heard: boolean;
  #isOn: boolean;

  /** @param isOn whether a request was not answered just now */
  constructor(engine: Engine, callers: WaitingCallers, heard: boolean, isOn: boolean) {
    this.#engine = engine;
    this.#callers = callers;
    this.heard = heard;
    this.#isOn = isOn;
  }

  end(): void {
    this.heard = true;
    this.#isOn = false;
  }

  /** Whether a caller has waited as long as callers wait for an engine in trouble. */
  isTooLong({ began }: Caller): boolean {
    return this.#engine.clock.now() - began >= TROUBLE;
  }

  /** Who has waited long enough is told so, and the others go on. @param head is told in any case */
  begin(key: string, head?: Caller, error?: LockError): void {
    this.#isOn = true;
    const why = error ?? this.#engine.unavailable(key, UNANSWERED, 'It was not run here; try again');
    const over = this.#callers.all.filter((caller) => caller === head || this.isTooLong(caller));
    this.#callers.serve((caller) => caller.reject(why), over);
  }

  /** Ends a claim when the last attempt of its caller must be over, unless the engine has answered by then. */
  limit({ began }: Caller, claimEnd: AbortController): Cancel | undefined {
    if (!this.#isOn) return undefined;
    const { clock } = this.#engine;
    const left = Math.max(0, began + TROUBLE + CALL_TIMEOUT - clock.now());
    return clock.after(left, () => this.#isOn && claimEnd.abort(UNANSWERED));
  }
}
