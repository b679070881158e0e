import { admitted } from '../core/admission.ts';
import type { Attempt, Backend, Claim, Grant, Handle, Release, Renewal, Standing, Traits } from '../core/backend.ts';
import { PLACE_TTL } from '../core/backend.ts';
import { type Clock, systemClock } from '../core/clock.ts';

const TRAITS: Traits = {
  seats: 'counted',
  fair: true,
  fencing: 'durable',
  spans: true,
  wakes: 'watch',
  lapses: true,
  ttl: { min: 1, max: Number.MAX_SAFE_INTEGER },
};

export interface MemoryOptions {
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

interface Entry {
  readonly claim: Claim;
  readonly ticket: bigint;
  readonly joined: number;
  held: boolean;
  lapses: number;
  wake?: (grant?: Grant) => void;
}

/**
 * The rule over an array, in one process: for tests, for a service that has one process, and as the reference that the
 * other backends are compared with. Several `Locks` over one `memory()` exclude each other.
 */
export function memory(options: MemoryOptions = {}): Backend {
  return new Memory(options.clock ?? systemClock);
}

class Memory implements Backend {
  readonly name = 'memory';
  readonly traits = TRAITS;
  readonly #lines = new Map<string, Entry[]>();
  /** One counter for all keys: it grows per key too, and leaves nothing behind for keys that are not in use. */
  #tickets = 0n;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  attempt(claim: Claim): Promise<Attempt> {
    return Promise.resolve(this.#attempt(claim));
  }

  #attempt(claim: Claim): Attempt {
    const line = this.#line(claim.key);
    let mine = line.find((entry) => entry.claim.id === claim.id);
    if (!mine) {
      if (claim.atLeast !== undefined && claim.atLeast > this.#tickets) this.#tickets = claim.atLeast - 1n;
      mine = { claim, ticket: this.#tickets + 1n, joined: this.#clock.now(), held: false, lapses: 0 };
      this.#tickets += BigInt(claim.span);
      line.push(mine);
      if (line.length === 1) this.#lines.set(claim.key, line);
      this.#admit(line, mine);
    }
    mine.lapses = this.#clock.now() + (mine.held ? claim.ttl : Math.min(claim.ttl, PLACE_TTL));
    if (mine.held) return grant(mine);
    const ahead = line.indexOf(mine);
    const retryAfter = Math.min(...line.slice(0, ahead).map((entry) => entry.lapses)) - this.#clock.now();
    if (!claim.queue) this.#remove(line, mine);
    return { granted: false, ahead, retryAfter };
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return Promise.resolve(
      claims.map((claim) => {
        const mine = this.#line(claim.key).find((entry) => entry.claim.id === claim.id && entry.held);
        if (!mine) return 'gone';
        mine.lapses = this.#clock.now() + claim.ttl;
        return { validFor: claim.ttl };
      }),
    );
  }

  release(handle: Handle, next?: Claim): Promise<Release> {
    const line = this.#line(handle.key);
    const mine = line.find((entry) => entry.claim.id === handle.id);
    if (mine) this.#remove(line, mine);
    return Promise.resolve({ freed: mine !== undefined, next: next && this.#attempt(next) });
  }

  watch(claim: Claim, wake: (grant?: Grant) => void): Promise<AsyncDisposable> {
    const mine = this.#line(claim.key).find((entry) => entry.claim.id === claim.id);
    if (mine) mine.wake = wake;
    return Promise.resolve({
      [Symbol.asyncDispose]: async () => {
        if (mine) mine.wake = undefined;
      },
    });
  }

  async *inspect(prefix: string): AsyncIterable<Standing> {
    for (const key of [...this.#lines.keys()].filter((name) => name.startsWith(prefix)).sort()) {
      const now = this.#clock.now();
      for (const [position, { claim, ticket, held, joined, lapses }] of this.#line(key).entries()) {
        const { take, of, label } = claim;
        yield { key, held, position, ticket, take, of, label, since: now - joined, remaining: lapses - now };
      }
    }
  }

  evict(key: string, ticket: bigint): Promise<boolean> {
    const line = this.#line(key);
    const found = line.find((entry) => entry.ticket === ticket);
    if (found) this.#remove(line, found);
    return Promise.resolve(found !== undefined);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** The line without those who gave no sign of life. */
  #line(key: string): Entry[] {
    const line = this.#lines.get(key) ?? [];
    const now = this.#clock.now();
    for (const entry of line.filter(({ lapses }) => lapses <= now)) this.#remove(line, entry);
    return line;
  }

  #remove(line: Entry[], entry: Entry): void {
    line.splice(line.indexOf(entry), 1);
    if (line.length === 0) this.#lines.delete(entry.claim.key);
    this.#admit(line);
  }

  /** Marks whoever the rule now admits and tells them; `asking` hears it from its own attempt. */
  #admit(line: Entry[], asking?: Entry): void {
    const now = this.#clock.now();
    for (const entry of line.slice(0, admitted(line.map(({ claim }) => claim)))) {
      if (entry.held) continue;
      entry.held = true;
      entry.lapses = now + entry.claim.ttl;
      if (entry !== asking) entry.wake?.(grant(entry));
    }
  }
}

const grant = (entry: Entry): Grant => ({ granted: true, ticket: entry.ticket, validFor: entry.claim.ttl });
