import type { LockOptions } from '../../../src/core/index.ts';
import type { FromWorker, ProcessEvent, Question } from '../events.ts';

/** What an actor needs of a lease. Leases of holdfast have it; another library needs an adapter. */
export interface LibraryLease {
  readonly held: boolean;
  /** How long the hold is still good, ms; Infinity if no time ends it. */
  readonly remaining: number;
  readonly signal: AbortSignal;
  readonly token?: bigint;
  extend(ms: number): Promise<unknown>;
  release(): Promise<unknown>;
}

export interface LibraryLock {
  acquire(options: LockOptions): Promise<LibraryLease>;
  tryAcquire(options: { readonly ttl: number; readonly renew: boolean }): Promise<LibraryLease | null>;
}

/** The locks of a process, of holdfast or of another library. */
export interface LockLibrary {
  mutex(key: string): LibraryLock;
  rwLock(key: string): { readonly read: LibraryLock; readonly write: LibraryLock };
  semaphore(key: string, options: { readonly permits: number }): LibraryLock;
  close(): Promise<void>;
}

/** Sends nothing if the referee is gone, because then this process ends, too. */
export function send(message: FromWorker): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

/**
 * Reports of a process to the referee, and its questions. Events wait until the end of a turn of the loop, so that one message can
 * carry several of them.
 */
export class Report {
  readonly #origin: bigint;
  #events: (ProcessEvent & { readonly at: number })[] = [];
  readonly #questions = new Map<number, (value: number) => void>();
  #last = 0;

  /** @param origin the start of the run by `process.hrtime`, ns: a clock that all processes of the machine share */
  constructor(origin: bigint) {
    this.#origin = origin;
  }

  /** ms since the start of the run. */
  now(): number {
    return Number(process.hrtime.bigint() - this.#origin) / 1e6;
  }

  add(event: ProcessEvent, at: number = this.now()): void {
    if (this.#events.length === 0) setImmediate(() => this.flush());
    this.#events.push({ ...event, at });
    // Sent at once: if this process is killed before the end of the turn, and another one holds the lock by then, the referee would think
    // that both held it.
    if (event.what === 'left' || event.what === 'lost') this.flush();
  }

  /** Sends the events that wait. */
  flush(): void {
    if (this.#events.length > 0) this.#send();
  }

  ask(question: Question): Promise<number> {
    const ask = ++this.#last;
    return new Promise((resolve) => {
      this.#questions.set(ask, resolve);
      this.#send({ ask, question });
    });
  }

  resolveAnswer(ask: number, value: number): void {
    this.#questions.get(ask)?.(value);
    this.#questions.delete(ask);
  }

  #send(asked?: { readonly ask: number; readonly question: Question }): void {
    send({ events: this.#events, ...(asked && { asked }) });
    this.#events = [];
  }
}

/** Reports what a holder sees of its own hold. Each reported time errs on the safe side. */
export class HoldObserver implements Disposable {
  readonly #op: string;
  readonly #lease: LibraryLease;
  readonly #report: Report;
  readonly #lost = (): void => void this.observe();
  #over = false;

  private constructor(op: string, lease: LibraryLease, report: Report) {
    this.#op = op;
    this.#lease = lease;
    this.#report = report;
    // A loss is reported at once, not at the next observation. If the process were stopped in between, the judge would think
    // that it still believed in its hold.
    lease.signal.addEventListener('abort', this.#lost);
  }

  /** @returns undefined if the grant came so late that the hold is over already */
  static begin(op: string, lease: LibraryLease, report: Report): HoldObserver | undefined {
    const before = report.now();
    const { held, remaining } = lease;
    if (!held) {
      report.add({ what: 'refused', op, code: 'LATE' });
      return undefined;
    }
    const token = lease.token?.toString();
    report.add({ what: 'entered', op, before, remaining: finite(remaining), ...(token !== undefined && { token }) });
    return new HoldObserver(op, lease, report);
  }

  /**
   * Reports whether the lock is held now.
   * @param last whether this is the last observation, before the release
   * @returns whether the lock is held
   */
  observe(last = false): boolean {
    if (this.#over) return false;
    const op = this.#op;
    const at = this.#report.now();
    const { held, remaining } = this.#lease;
    this.#over = last || !held;
    if (!held) this.#report.add({ what: 'lost', op });
    else this.#report.add(last ? { what: 'left', op } : { what: 'held', op, remaining: finite(remaining) }, at);
    return held;
  }

  [Symbol.dispose](): void {
    this.#lease.signal.removeEventListener('abort', this.#lost);
  }
}

const finite = (ms: number): number | null => (Number.isFinite(ms) ? ms : null);
