import { Context, type Lease, leastOf, onAbort } from '../core/index.ts';

/** @internal A lease that keeps other processes out of a run. Without `isNeeded` the run needs the lease to its end. */
export interface RunGuard {
  readonly lease: Lease;
  readonly isNeeded?: () => boolean;
}

/** @internal A run under leases, as its function sees it. It is the base of the run of a tick, of the run of a memo, and of the term of a leader. */
export class LeasedRun {
  readonly #guards: readonly RunGuard[];
  readonly #controller = new AbortController();
  readonly #context = new Context();
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

  /** Asks the function to end, by its signal. Its listeners run in the context of the run: they must not enter the locks of the caller that ends it. */
  abort(reason: unknown): void {
    this.#context.run(() => this.#controller.abort(reason));
  }

  /** Until `over`, aborts the run when a needed lease is lost or `stop` is aborted, unless `onLoss` and `onStop` do something else. */
  listen(stop: AbortSignal | undefined, onLoss = this.abort, onStop = this.abort): void {
    for (const guard of this.#guards) {
      const { signal } = guard.lease;
      this.#unlisten.push(onAbort(signal, () => isNeeded(guard) && onLoss.call(this, signal.reason)));
    }
    if (stop) this.#unlisten.push(onAbort(stop, () => onStop.call(this, stop.reason)));
  }

  /** Called when the function has settled: no signal reaches the run any more. */
  over(): void {
    for (const unlisten of this.#unlisten) unlisten();
  }
}

const isNeeded = ({ isNeeded }: RunGuard): boolean => isNeeded?.() ?? true;

/** @internal A run that also has the members of `about`, such as its name. */
export const leasedRun = <A extends object>(guards: readonly RunGuard[], about: A): LeasedRun & A =>
  Object.assign(new LeasedRun(guards), about);
