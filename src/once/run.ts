import { type Lease, leastOf } from '../core/index.ts';

/** One run of a tick. */
export interface TickRun {
  /** The name that `once` got. */
  readonly name: string;
  /** When the tick was due. */
  readonly tick: Date;
  /**
   * The fencing token. Of two runs of one tick the later one has the higher token; with `overlap` `skip` or `queue`, of two
   * runs of the name. What the run writes to should refuse an older one.
   */
  readonly token: bigint;
  /**
   * Aborted when the run must end: its lease is lost while another instance can still run the tick (with `overlap` `skip` or
   * `queue`, a later tick), or the `signal` of the options is aborted.
   */
  readonly signal: AbortSignal;
  /** Whether no other instance can have begun. Compares the clock now. */
  readonly held: boolean;
  /** ms until another instance could begin, unless renewed; Infinity if the tick is late for every instance. */
  readonly remaining: number;
  /**
   * @throws LockError `LOCK_LOST`
   * @example
   * const tick = Math.floor(Date.now() / 60_000) * 60_000; // the last full minute, on every instance the same
   * await locks.once('report', tick, async (run) => {
   *   const rows = await report(run.tick);
   *   run.assertHeld();
   *   await writeOrder(rows, run.token);
   * });
   */
  assertHeld(): void;
}

/** @internal A lease that keeps others out of a run while `needed` says so. */
export interface Guard {
  readonly lease: Lease;
  isNeeded(): boolean;
}

/** @internal */
export class HeldRun implements TickRun {
  readonly name: string;
  readonly tick: Date;
  readonly token: bigint;
  readonly #guards: readonly Guard[];
  readonly #controller = new AbortController();
  readonly #unlisten: (() => void)[] = [];

  constructor(name: string, due: number, token: bigint, guards: readonly Guard[], stop: AbortSignal | undefined) {
    this.name = name;
    this.tick = new Date(due);
    this.token = token;
    this.#guards = guards;
    for (const { lease, isNeeded } of guards) this.#endBy(lease.signal, isNeeded);
    if (stop) this.#endBy(stop, () => true);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get held(): boolean {
    return this.#guards.every(({ lease, isNeeded }) => lease.held || !isNeeded());
  }

  get remaining(): number {
    return leastOf(
      this.#guards.map(({ lease, isNeeded }) => (isNeeded() ? lease.remaining : Number.POSITIVE_INFINITY)),
    );
  }

  assertHeld(): void {
    for (const { lease, isNeeded } of this.#guards) if (isNeeded()) lease.assertHeld();
  }

  toJSON(): object {
    const { name, tick, token, held, remaining } = this;
    return { name, tick, token: `${token}`, held, remaining };
  }

  /** The run has settled: no signal tells it anything more. */
  over(): void {
    for (const unlisten of this.#unlisten) unlisten();
  }

  #endBy(signal: AbortSignal, counts: () => boolean): void {
    const listener = (): void => {
      if (counts()) this.#controller.abort(signal.reason);
    };
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
    this.#unlisten.push(() => signal.removeEventListener('abort', listener));
  }
}
