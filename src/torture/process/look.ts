import type { Holding } from './doors.ts';
import type { Report } from './report.ts';

/** A holder's own view of its hold, with times on the safe side. */
export class Looks implements Disposable {
  readonly #op: string;
  readonly #lease: Holding;
  readonly #report: Report;
  readonly #lost = (): void => void this.holds();
  #over = false;

  private constructor(op: string, lease: Holding, report: Report) {
    this.#op = op;
    this.#lease = lease;
    this.#report = report;
    // It tells of a loss at once, and not at the next look. Otherwise a process that is stopped in between would seem to
    // believe in the hold.
    lease.signal.addEventListener('abort', this.#lost);
  }

  /** Undefined if the grant came too late, and the hold is over already. */
  static begin(op: string, lease: Holding, report: Report): Looks | undefined {
    const before = report.now();
    const { held, remaining } = lease;
    if (!held) {
      report.tell({ what: 'refused', op, code: 'LATE' });
      return undefined;
    }
    const token = lease.token?.toString();
    report.tell({ what: 'entered', op, before, remaining: finite(remaining), ...(token !== undefined && { token }) });
    return new Looks(op, lease, report);
  }

  holds(): boolean {
    if (this.#over) return false;
    const at = this.#report.now();
    const { held, remaining } = this.#lease;
    if (held) this.#report.tell({ what: 'held', op: this.#op, remaining: finite(remaining) }, at);
    else this.#end('lost');
    return held;
  }

  /** The last look before the release. */
  leaves(): void {
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
