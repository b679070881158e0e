import type { LibraryLease } from './lock-library.ts';
import type { Report } from './report.ts';

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
    // A loss is reported at once, not at the next observation. Otherwise the judge would think that a process which was
    // stopped in between still believed in its hold.
    lease.signal.addEventListener('abort', this.#lost);
  }

  /** @returns undefined if the grant came too late, and the hold is over already */
  static begin(op: string, lease: LibraryLease, report: Report): HoldObserver | undefined {
    const before = report.now();
    const { held, remaining } = lease;
    if (!held) {
      report.tell({ what: 'refused', op, code: 'LATE' });
      return undefined;
    }
    const token = lease.token?.toString();
    report.tell({ what: 'entered', op, before, remaining: finite(remaining), ...(token !== undefined && { token }) });
    return new HoldObserver(op, lease, report);
  }

  /** Reports whether the lock is held now. @returns the same */
  observe(): boolean {
    if (this.#over) return false;
    const at = this.#report.now();
    const { held, remaining } = this.#lease;
    if (held) this.#report.tell({ what: 'held', op: this.#op, remaining: finite(remaining) }, at);
    else this.#end('lost');
    return held;
  }

  /** Makes the last observation before the release. */
  observeLast(): void {
    if (this.#over) return;
    const at = this.#report.now();
    const { held } = this.#lease;
    if (held) this.#end('left', at);
    else this.#end('lost');
  }

  [Symbol.dispose](): void {
    this.#lease.signal.removeEventListener('abort', this.#lost);
  }

  #end(what: 'left' | 'lost', at?: number): void {
    this.#over = true;
    this.#report.tell({ what, op: this.#op }, at);
  }
}

const finite = (ms: number): number | null => (Number.isFinite(ms) ? ms : null);
