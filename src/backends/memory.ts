import type { Seats } from '../core/contract/admission.ts';
import {
  type Attempt,
  type Backend,
  type Claim,
  type Grant,
  type Handle,
  type Listing,
  LONGEST_PLACE_TTL,
  type Notes,
  placeTtlOf,
  type Release,
  type Renewal,
  type Standing,
  type Traits,
} from '../core/contract/backend.ts';
import { type Clock, systemClock } from '../core/contract/clock.ts';
import { LONGEST } from '../core/contract/duration.ts';
import { checkNames, namesOf } from '../core/contract/options.ts';
import { ArrivalLine } from '../core/line/line.ts';

const TRAITS: Traits = {
  seats: 'counted',
  fair: true,
  fencing: 'durable',
  spans: true,
  wakes: 'watch',
  lapses: true,
  keptBy: 'lease',
  placeTtl: LONGEST_PLACE_TTL,
  ttl: { min: 1, max: LONGEST },
};

/** Options of `memory`. */
export interface MemoryOptions {
  /** Time and randomness. Default: the machine's. */
  readonly clock?: Clock;
}

interface Entry {
  readonly claim: Claim;
  readonly seats: Seats;
  ticket: bigint;
  readonly joined: number;
  held: boolean;
  lapses: number;
  wake?: (grant?: Grant) => void;
}

class KeyLine extends ArrivalLine<Entry> {
  readonly byId = new Map<string, Entry>();
  /** No claim lapses before this time. */
  firstLapse = Number.POSITIVE_INFINITY;
}

/** Old lines looked at for each new line. So lapsed claims of keys that nobody asks for go faster than new ones come. */
const SWEPT = 2;

/** Not by `Math.min`, whose arguments must fit on the stack. */
function soonest(entries: Iterable<Entry>): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { lapses } of entries) if (lapses < first) first = lapses;
  return first;
}

/**
 * Locks inside one process: for tests, for a service with one process, and as the reference for the other backends. Several `Locks`
 * over one `memory()` exclude each other.
 * @example const locks = createLocks(memory());
 */
export function memory(options: MemoryOptions = {}): Backend {
  checkNames(options, namesOf<MemoryOptions>({ clock: true }), 'options of memory()');
  return new Memory(options.clock ?? systemClock);
}

class Memory implements Backend {
  readonly name = 'memory';
  readonly traits = TRAITS;
  readonly #lines = new Map<string, KeyLine>();
  #sweeping: Iterator<string> = this.#lines.keys();
  readonly #notes = new Map<string, { readonly text: string; readonly lapses: number }>();
  /** One counter for all keys. So it grows for each key, and unused keys leave nothing behind. */
  #tickets = 0n;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly notes: Notes = {
    read: async (name) => {
      const note = this.#notes.get(name);
      return note && this.#clock.now() < note.lapses ? note.text : undefined;
    },
    write: async (name, text, ttl) => {
      const now = this.#clock.now();
      for (const [old, { lapses }] of this.#notes) if (lapses <= now) this.#notes.delete(old);
      if (text === undefined) this.#notes.delete(name);
      else this.#notes.set(name, { text, lapses: now + ttl });
    },
  };

  attempt(claim: Claim): Promise<Attempt> {
    return Promise.resolve(this.#attempt(claim));
  }

  #attempt(claim: Claim): Attempt {
    const now = this.#clock.now();
    const line = this.#line(claim.key, now) ?? new KeyLine();
    const mine = line.byId.get(claim.id) ?? this.#join(line, claim, now);
    // A hold never lapses sooner: this attempt may have been sent before the last renewal.
    mine.lapses = mine.held ? Math.max(mine.lapses, now + claim.ttl) : now + placeTtlOf(claim);
    line.firstLapse = Math.min(line.firstLapse, mine.lapses);
    if (mine.held) {
      this.#raise(mine, claim);
      return grant(mine);
    }
    const members = line.members;
    const ahead = members.indexOf(mine);
    const retryAfter = soonest(members.slice(0, ahead)) - now;
    if (!claim.queue) this.#remove(line, mine);
    return { granted: false, ahead, retryAfter };
  }

  #join(line: KeyLine, claim: Claim, joined: number): Entry {
    if (claim.atLeast !== undefined && claim.atLeast > this.#tickets) this.#tickets = claim.atLeast - 1n;
    const entry: Entry = { claim, seats: claim, ticket: this.#tickets + 1n, joined, held: false, lapses: 0 };
    this.#tickets += BigInt(claim.span);
    entry.held = line.join(entry);
    line.byId.set(claim.id, entry);
    if (!this.#lines.has(claim.key)) this.#sweep(joined);
    this.#lines.set(claim.key, line);
    return entry;
  }

  #raise(mine: Entry, { atLeast = 0n, span }: Claim): void {
    if (atLeast <= mine.ticket) return;
    mine.ticket = atLeast;
    const last = atLeast + BigInt(span) - 1n;
    if (last > this.#tickets) this.#tickets = last;
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const now = this.#clock.now();
    return Promise.resolve(
      claims.map((claim) => {
        const line = this.#line(claim.key, now);
        const mine = line?.byId.get(claim.id);
        if (!line || !mine?.held) return 'gone';
        mine.lapses = now + claim.ttl;
        line.firstLapse = Math.min(line.firstLapse, mine.lapses);
        return { validFor: claim.ttl };
      }),
    );
  }

  release({ key, id }: Handle, next?: Claim): Promise<Release> {
    const line = this.#line(key, this.#clock.now());
    const mine = line?.byId.get(id);
    if (line && mine) this.#remove(line, mine);
    return Promise.resolve({ freed: mine !== undefined, next: next && this.#attempt(next) });
  }

  watch({ key, id }: Claim, wake: (grant?: Grant) => void): AsyncDisposable {
    const mine = this.#lines.get(key)?.byId.get(id);
    if (mine) mine.wake = wake;
    return {
      [Symbol.asyncDispose]: async () => {
        if (mine) mine.wake = undefined;
      },
    };
  }

  async *inspect(prefix: string, { exact = false }: Listing = {}): AsyncIterable<Standing> {
    const keys = exact ? [prefix] : [...this.#lines.keys()].filter((name) => name.startsWith(prefix)).sort();
    for (const key of keys) {
      const now = this.#clock.now();
      for (const [position, entry] of (this.#line(key, now)?.members ?? []).entries()) {
        const { ticket, held, joined, lapses } = entry;
        const { take, of, label } = entry.claim;
        yield { key, held, position, ticket, take, of, label, since: now - joined, remaining: lapses - now };
      }
    }
  }

  evict(key: string, ticket: bigint): Promise<boolean> {
    const line = this.#line(key, this.#clock.now());
    const found = line?.members.find((entry) => entry.ticket === ticket);
    if (line && found) this.#remove(line, found);
    return Promise.resolve(found !== undefined);
  }

  async close(): Promise<void> {}

  /** Looks at the next lines for claims that have lapsed, left by `minHold` or by callers that stopped. */
  #sweep(now: number): void {
    for (let looked = 0; looked < SWEPT; looked++) {
      const { value: key, done } = this.#sweeping.next();
      if (done) this.#sweeping = this.#lines.keys();
      else this.#line(key, now);
    }
  }

  /** The line without claims that have lapsed. */
  #line(key: string, now: number): KeyLine | undefined {
    const line = this.#lines.get(key);
    if (!line || now < line.firstLapse) return line;
    // From the back: a lapsed place must not be admitted when the hold ahead of it lapses.
    for (const entry of line.members.reverse()) if (entry.lapses <= now) this.#remove(line, entry);
    line.firstLapse = soonest(line.members);
    return line;
  }

  /** Removes a claim from the line, and tells the claims that are admitted by that. */
  #remove(line: KeyLine, entry: Entry): void {
    line.byId.delete(entry.claim.id);
    for (const next of line.leave(entry)) {
      next.held = true;
      next.lapses = this.#clock.now() + next.claim.ttl;
      next.wake?.(grant(next));
    }
    if (line.idle) this.#lines.delete(entry.claim.key);
  }
}

const grant = (entry: Entry): Grant => ({ granted: true, ticket: entry.ticket, validFor: entry.claim.ttl });
