import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Grant,
  type Handle,
  type Listing,
  LONGEST_PLACE_TTL,
  type Release,
  type Renewal,
  type Standing,
  type Traits,
} from '../../core/contract/backend.ts';
import { LONGEST } from '../../core/contract/duration.ts';
import type { RegisterEntry, RegisterStore } from '../../core/contract/register-store.ts';
import { Calls } from './calls.ts';
import { keyOf } from './document.ts';
import { standings } from './inspect.ts';
import { KeyLine } from './key-line.ts';
import type { Joining, OpenLine } from './line.ts';
import { headOf, nameOf } from './names.ts';
import { RegisterNotes } from './notes.ts';
import { checkStore, type RegisterOptions, resolveRegisterOptions } from './options.ts';
import { proof, refuse } from './proof.ts';
import { KeyWatch } from './wake-ups.ts';

/** Keys whose lines are remembered while no step of theirs is under way. */
const KEPT = 10_000;

/**
 * Locks in any store that can compare and set. The line of a key is one small document in it.
 * @throws LockError `LOCK_INVALID` for something that is no store, or for a bad option.
 * @example
 * const locks = createLocks(register(store));
 */
export function register(store: RegisterStore, options: RegisterOptions = {}): Backend {
  checkStore(store);
  const { prefix, clock } = resolveRegisterOptions(options, 'register');
  let found: Finding | undefined;
  const prove = async (calls: Calls): Promise<void> => {
    found ??= await proof(calls); // a store that failed once is not asked until it has luck
    refuse(store.name, found);
  };
  return new Register(new Calls(store, prefix, clock, prove));
}

class Register implements Backend {
  readonly name: string;
  readonly traits: Traits;
  readonly notes: RegisterNotes;
  readonly inspect?: Backend['inspect'];
  readonly watch?: Backend['watch'];
  readonly #calls: Calls;
  readonly #lines = new Map<string, KeyLine>();
  readonly #watches = new Map<string, KeyWatch>();

  constructor(calls: Calls) {
    const { store } = calls;
    this.#calls = calls;
    this.name = store.name;
    this.notes = new RegisterNotes(calls);
    this.traits = {
      seats: 'counted',
      fair: true,
      racesToJoin: true,
      fencing: 'durable',
      spans: true,
      wakes: store.watch ? 'watch' : 'never',
      lapses: true,
      ...(!store.tellsTime && { observedLapses: true }),
      keptBy: 'lease',
      placeTtl: LONGEST_PLACE_TTL,
      ...(store.spin && { spin: store.spin }),
      ttl: { min: store.minTtl ?? (store.tellsTime ? 1 : 100), max: LONGEST },
    };
    if (store.list) this.inspect = (prefix, listing = {}) => this.#inspect(prefix, listing);
    if (store.watch) this.watch = (claim, wake) => this.#watch(claim, wake);
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const { clock } = this.#calls;
    const sent = clock.now();
    const isLate = (): boolean => clock.now() - sent > claim.within;
    const { attempt, joined }: Joining = await this.#line(claim.key).take((line) =>
      isLate() && !line.has(claim.id) ? { attempt: LATE } : line.attempt(claim),
    );
    if (joined === undefined || !isLate()) return attempt;
    // An attempt that followed it meanwhile may have been told of a grant: that one was another sign of life.
    await this.#line(claim.key).take((line) => line.leave(({ id, beat }) => id === claim.id && beat === joined), true);
    return LATE;
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return Promise.all(
      claims.map((claim) =>
        this.#line(claim.key)
          .take((line) => line.renew(claim))
          .catch((): Renewal => 'unknown'),
      ),
    );
  }

  release({ key, id }: Handle, next?: Claim): Promise<Release> {
    let was = false;
    return this.#line(key).take((line) => {
      // Kept over conflicts: where the answer to a write was lost, the next try finds nothing to release.
      was = line.leave((place) => place.id === id) || was;
      return { freed: was, ...(next && { next: line.attempt(next).attempt }) };
    }, true);
  }

  evict(key: string, ticket: bigint): Promise<boolean> {
    return this.#line(key).take((line) => line.leave((place) => place.ticket === ticket));
  }

  async check(): Promise<Finding[]> {
    const [found, others = []] = await Promise.all([proof(this.#calls, true), this.#calls.store.check?.()]);
    return found ? [found, ...others] : others;
  }

  async close(): Promise<void> {
    await this.#calls.store.close?.();
  }

  get #folder(): string {
    return `${this.#calls.prefix}/l/`;
  }

  #line(key: string): KeyLine {
    const line = this.#lines.get(key) ?? new KeyLine(key, this.#folder + nameOf(key), this.#calls);
    this.#lines.delete(key);
    this.#lines.set(key, line);
    if (this.#lines.size > KEPT) {
      for (const [old, { idle }] of this.#lines) {
        if (idle && old !== key) this.#lines.delete(old);
        if (this.#lines.size <= KEPT) break;
      }
    }
    return line;
  }

  #watch(claim: Claim, wake: (grant?: Grant) => void): Promise<AsyncDisposable> {
    const { key } = claim;
    let watch = this.#watches.get(key);
    if (!watch) {
      const learn = (entry: RegisterEntry): OpenLine => this.#line(key).learn(entry);
      watch = new KeyWatch(this.#calls.store, this.#folder + nameOf(key), learn, () => this.#watches.delete(key));
      this.#watches.set(key, watch);
    }
    return watch.add(claim, () => wake());
  }

  async *#inspect(prefix: string, { exact = false, progress }: Listing): AsyncIterable<Standing> {
    if (exact) return yield* (await this.#standings(this.#folder + nameOf(prefix))).filter(({ key }) => key === prefix);
    const names = this.#calls.store.list!(this.#folder + headOf(prefix));
    const read = async (name: string): Promise<Standing[]> =>
      (await this.#standings(name)).filter(({ key }) => key.startsWith(prefix));
    yield* standings(names, read, progress);
  }

  async #standings(name: string): Promise<Standing[]> {
    const entry = await this.#calls.read(name);
    const key = entry?.text === undefined ? undefined : keyOf(entry.text);
    if (!entry || key === undefined) return [];
    const line = this.#line(key).learn(entry);
    return line.places.map(({ ticket, held, take, of, label, joined }, position) => {
      const remaining = line.remaining(position);
      const since = joined === undefined || entry.now === undefined ? undefined : Math.max(0, entry.now - joined);
      return { key, held, position, ticket, take, of, label, remaining, ...(since !== undefined && { since }) };
    });
  }
}

const LATE = { granted: false, late: true } as const;
