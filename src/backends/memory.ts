import {
  type Attempt,
  type Backend,
  type Claim,
  type Handle,
  type Hints,
  type Listing,
  MAX_PLACE_TTL_MS,
  type NewValue,
  type QueueEntry,
  type Release,
  type Renewal,
  type Traits,
  type ValueCondition,
  type Wake,
} from '../core/contract/backend.ts';
import { type Clock, systemClock } from '../core/contract/clock.ts';
import { LONGEST } from '../core/contract/duration.ts';
import { placeTtlOf } from '../core/contract/lengths.ts';
import { checkNames, namesOf } from '../core/contract/options.ts';
import { keptNotes } from './shared/kept-notes.ts';
import { KeptWords } from './shared/kept-words.ts';
import { type Entry, grant, KeyLine, KeyLines, soonest } from './shared/key-lines.ts';
import { LONGEST_WORDS } from './shared/record.ts';

const TRAITS: Traits = {
  units: 'counted',
  fair: true,
  fencing: 'durable',
  tokenBlocks: true,
  wakes: 'watch',
  expires: true,
  lifetime: 'lease',
  placeTtl: MAX_PLACE_TTL_MS,
  values: { maxBytes: LONGEST_WORDS },
  ttl: { min: 1, max: LONGEST },
};

/** Options of `memory`. */
export interface MemoryOptions {
  /** Time and randomness. Default: the machine's. */
  readonly clock?: Clock;
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
  readonly #lines: KeyLines;
  readonly hints: Hints;
  readonly values: KeptWords;
  /** One counter for all keys. So it grows for each key, and unused keys leave nothing behind. */
  #tokens = 0n;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lines = new KeyLines(clock);
    this.hints = keptNotes(clock);
    this.values = new KeptWords(clock);
  }

  attempt(claim: Claim): Promise<Attempt> {
    return Promise.resolve(claim.accepts ? this.#ask(claim, claim.accepts) : this.#attempt(claim));
  }

  /** The attempt of a claim that words may answer. */
  #ask(claim: Claim, answered: ValueCondition): Attempt {
    const value = this.values.answer(claim.key, answered);
    if (!value) {
      const attempt = this.#attempt(claim);
      return this.values.told(claim, answered, attempt, this.#lines.find(claim.key)?.members[0]?.token);
    }
    this.#free(claim);
    return { granted: false, value };
  }

  #attempt(claim: Claim): Attempt {
    const now = this.#clock.now();
    const line = this.#lines.living(claim.key, now) ?? new KeyLine();
    const mine = line.byId.get(claim.id) ?? this.#join(line, claim, now);
    // A hold never expires sooner: this attempt may have been sent before the last renewal.
    mine.expires = mine.held ? Math.max(mine.expires, now + claim.ttl) : now + placeTtlOf(claim);
    line.firstExpiry = Math.min(line.firstExpiry, mine.expires);
    if (mine.held) {
      this.#raise(mine, claim);
      return grant(mine);
    }
    const members = line.members;
    const ahead = members.indexOf(mine);
    const retryAfter = soonest(members.slice(0, ahead)) - now;
    if (!claim.queue) this.#lines.remove(line, mine);
    return { granted: false, ahead, retryAfter };
  }

  #join(line: KeyLine, claim: Claim, joined: number): Entry {
    if (claim.minToken !== undefined && claim.minToken > this.#tokens) this.#tokens = claim.minToken - 1n;
    const entry: Entry = { claim, seats: claim, token: this.#tokens + 1n, joined, held: false, expires: 0 };
    this.#tokens += BigInt(claim.tokenCount);
    entry.held = line.join(entry);
    line.byId.set(claim.id, entry);
    this.#lines.keep(claim.key, line, joined);
    return entry;
  }

  #raise(mine: Entry, { minToken = 0n, tokenCount }: Claim): void {
    if (minToken <= mine.token) return;
    mine.token = minToken;
    const last = minToken + BigInt(tokenCount) - 1n;
    if (last > this.#tokens) this.#tokens = last;
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const now = this.#clock.now();
    return Promise.resolve(
      claims.map((claim) => {
        const line = this.#lines.living(claim.key, now);
        const mine = line?.byId.get(claim.id);
        if (!line || !mine?.held) return 'gone';
        mine.expires = now + claim.ttl;
        line.firstExpiry = Math.min(line.firstExpiry, mine.expires);
        return { validFor: claim.ttl };
      }),
    );
  }

  async release(handle: Handle, next?: Claim, leave?: NewValue): Promise<Release> {
    const outcome = this.#free(handle, leave);
    return { ...outcome, next: next && (await this.attempt(next)) };
  }

  #free({ key, id }: Handle, leave?: NewValue): Omit<Release, 'next'> {
    const line = this.#lines.living(key, this.#clock.now());
    const mine = line?.byId.get(id);
    if (!line || !mine) return { freed: false, stored: false };
    const stored = leave !== undefined && mine.held;
    if (stored) this.values.leave(key, mine.token, leave);
    const others = stored ? line.members : [];
    this.#lines.remove(line, mine);
    for (const { claim, wake } of others) if (claim.accepts) wake?.();
    return { freed: leave === undefined || stored, stored };
  }

  watch({ key, id }: Claim, wake: Wake): AsyncDisposable {
    const mine = this.#lines.find(key)?.byId.get(id);
    if (mine) mine.wake = wake;
    return {
      [Symbol.asyncDispose]: async () => {
        if (mine) mine.wake = undefined;
      },
    };
  }

  async *inspect(prefix: string, { exact = false }: Listing = {}): AsyncIterable<QueueEntry> {
    const keys = exact ? [prefix] : this.#lines.keys.filter((name) => name.startsWith(prefix)).sort();
    for (const key of keys) {
      const now = this.#clock.now();
      for (const [position, entry] of (this.#lines.living(key, now)?.members ?? []).entries()) {
        const { token, held, joined, expires } = entry;
        const { units, capacity, label } = entry.claim;
        yield { key, held, position, token, units, capacity, label, since: now - joined, remaining: expires - now };
      }
    }
  }

  evict(key: string, token: bigint): Promise<boolean> {
    const line = this.#lines.living(key, this.#clock.now());
    const found = line?.members.find((entry) => entry.token === token);
    if (line && found) this.#lines.remove(line, found);
    return Promise.resolve(found !== undefined);
  }

  async close(): Promise<void> {}
}
