import { type Lease, leastOf } from '../core/index.ts';

/** @internal A lease that keeps others out of a run, as long as it is needed. */
export interface RunGuard {
  readonly lease: Lease;
  readonly isNeeded?: () => boolean;
}

/** @internal A function that runs under leases, as it sees that itself: the run of a tick or of a memo, or the term of a leader. */
export abstract class LeasedRun {
  readonly #guards: readonly RunGuard[];
  readonly #controller = new AbortController();
  readonly #unlisten: (() => void)[] = [];

  constructor(guards: readonly RunGuard[]) {
    this.#guards = guards;
  }

  /** The token of the last lease. */
  get token(): bigint {
    return this.#guards.at(-1)!.lease.token;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get held(): boolean {
    return this.#guards.every((guard) => guard.lease.held || !isNeeded(guard));
  }

  get remaining(): number {
    return leastOf(this.#guards.map((guard) => (isNeeded(guard) ? guard.lease.remaining : Number.POSITIVE_INFINITY)));
  }

  assertHeld(): void {
    for (const guard of this.#guards) if (isNeeded(guard)) guard.lease.assertHeld();
  }

  toJSON(): object {
    const { token, held, remaining } = this;
    return { ...this, token: `${token}`, held, remaining };
  }

  /** Tells the function to end. */
  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Tells it of the loss of a lease that is needed, and of a signal to stop, until `over`. */
  listen(stop: AbortSignal | undefined, onLoss = this.abort, onStop = this.abort): void {
    for (const guard of this.#guards) {
      const { signal } = guard.lease;
      this.#onAbort(signal, () => isNeeded(guard) && onLoss.call(this, signal.reason));
    }
    if (stop) this.#onAbort(stop, () => onStop.call(this, stop.reason));
  }

  /** The run has settled: no signal tells it anything more. */
  over(): void {
    for (const unlisten of this.#unlisten) unlisten();
  }

  #onAbort(signal: AbortSignal, act: () => void): void {
    if (signal.aborted) act();
    else signal.addEventListener('abort', act, { once: true });
    this.#unlisten.push(() => signal.removeEventListener('abort', act));
  }
}

const isNeeded = ({ isNeeded }: RunGuard): boolean => isNeeded?.() ?? true;
