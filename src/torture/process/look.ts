import type { Holding } from './doors.ts';
import type { Report } from './report.ts';

/** A holder's own view of its hold, told with times on the safe side. */
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
    // As soon as it is known, and not at the next look: a process that is stopped in between would seem to believe in it.
    lease.signal.addEventListener('abort', this.#lost);
  }

  /** Undefined where it is over before it begins: the grant came too late. */
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
    else this.#end(() => this.#report.tell({ what: 'lost', op: this.#op }));
    return held;
  }

  /** The last look before it is given back. */
  leaves(): void {
    if (this.#over) return;
    const at = this.#report.now();
    const { held } = this.#lease;
    this.#end(() => this.#report.tell({ what: held ? 'left' : 'lost', op: this.#op }, held ? at : undefined));
  }

  [Symbol.dispose](): void {
    this.#lease.signal.removeEventListener('abort', this.#lost);
  }

  #end(tell: () => void): void {
    this.#over = true;
    tell();
  }
}

const finite = (ms: number): number | null => (Number.isFinite(ms) ? ms : null);
