import type { Units } from '../../core/contract/admission.ts';
import type { Claim, Grant, Wake } from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';
import { ArrivalLine } from '../../core/line/line.ts';

export interface Entry {
  readonly claim: Claim;
  readonly seats: Units;
  token: bigint;
  readonly joined: number;
  held: boolean;
  expires: number;
  wake?: Wake;
}

export class KeyLine extends ArrivalLine<Entry> {
  readonly byId = new Map<string, Entry>();
  /** No claim expires before this time. */
  firstExpiry = Number.POSITIVE_INFINITY;
}

/**
 * The number of old lines that are looked at for each new line. So expired claims of keys that nobody asks for go faster than new ones come.
 */
const SWEPT = 2;

/** Gives the first expiry. It does not use `Math.min`, whose arguments must fit on the stack. */
export function soonest(entries: Iterable<Entry>): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { expires } of entries) if (expires < first) first = expires;
  return first;
}

export const grant = (entry: Entry): Grant => ({ granted: true, token: entry.token, validFor: entry.claim.ttl });

/** The lines of all keys, in this process. */
export class KeyLines {
  readonly #lines = new Map<string, KeyLine>();
  #sweeping: Iterator<string> = this.#lines.keys();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get keys(): string[] {
    return [...this.#lines.keys()];
  }

  find(key: string): KeyLine | undefined {
    return this.#lines.get(key);
  }

  /** Keeps a line that a claim has joined. */
  keep(key: string, line: KeyLine, now: number): void {
    if (!this.#lines.has(key)) this.#sweep(now);
    this.#lines.set(key, line);
  }

  /** Looks at the next lines for claims that have expired, left by `minHold` or by callers that stopped. */
  #sweep(now: number): void {
    for (let looked = 0; looked < SWEPT; looked++) {
      const { value: key, done } = this.#sweeping.next();
      if (done) this.#sweeping = this.#lines.keys();
      else this.living(key, now);
    }
  }

  /** Gives the line without claims that have expired. */
  living(key: string, now: number): KeyLine | undefined {
    const line = this.#lines.get(key);
    if (!line || now < line.firstExpiry) return line;
    // This goes from the back: a expired place must not be admitted when the hold ahead of it expires.
    for (const entry of line.members.reverse()) if (entry.expires <= now) this.remove(line, entry);
    line.firstExpiry = soonest(line.members);
    return line;
  }

  /** Removes a claim from the line, and tells the claims that are admitted by that. */
  remove(line: KeyLine, entry: Entry): void {
    line.byId.delete(entry.claim.id);
    for (const next of line.leave(entry)) {
      next.held = true;
      next.expires = this.#clock.now() + next.claim.ttl;
      next.wake?.(grant(next));
    }
    if (line.idle) this.#lines.delete(entry.claim.key);
  }
}
