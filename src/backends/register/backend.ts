import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Handle,
  type Listing,
  leastOf,
  MAX_DURATION_MS,
  type QueueEntry,
  RecentKeys,
  type RegisterEntry,
  type RegisterStore,
  type Release,
  type Renewal,
  type Traits,
  withLimit,
} from '../../core/index.ts';
import { TOO_LATE } from '../shared/queue.ts';
import { QUEUE_TRAITS } from '../shared/traits.ts';
import { Calls } from './calls.ts';
import { headOf, keyOf, nameOf } from './document.ts';
import { RegisterHints } from './hints.ts';
import { KeyDocument } from './key-document.ts';
import { type OpenQueue, QueueReader } from './open-queue.ts';
import { checkStore, type RegisterOptions, resolveRegisterOptions } from './options.ts';
import { proof, storeProof } from './proof.ts';
import { Sightings } from './sightings.ts';

/** The part of a lease that a renewal may take: less than the third for which the core waits, so that another renewal can follow. */
const RENEWAL_PART = 0.3;
const MAX_READS_AT_ONCE = 16;
/** When this many keys are watched, holds of further keys are not: a watch may cost the server more than the renewals of a hold. */
const MAX_WATCHED_KEYS = 100;
const MAX_KEPT_QUEUES = 10_000;

/**
 * Locks in any store that can compare and set. The queue of a key is one small document.
 * @throws LockError `LOCK_INVALID` when `store` is no store, or for a bad option.
 * @example
 * const locks = createLocks(register(store));
 */
export function register(store: RegisterStore, options: RegisterOptions = {}): Backend {
  checkStore(store);
  const { prefix, clock } = resolveRegisterOptions(options, 'register');
  return new Register(new Calls(store, prefix, clock, storeProof(new Calls(store, prefix, clock))));
}

class Register implements Backend {
  readonly name: string;
  readonly traits: Traits;
  readonly hints: RegisterHints;
  readonly inspect?: Backend['inspect'];
  readonly watch?: Backend['watch'];
  readonly watchHold?: Backend['watchHold'];
  readonly #calls: Calls;
  readonly #folder: string;
  readonly #documents = new RecentKeys<KeyDocument>(MAX_KEPT_QUEUES, ({ idle }) => !idle);
  readonly #sightings = new Sightings();
  readonly #watches = new Map<string, KeyWatch>();
  /** By claim id, the newest attempt under way, and whether an earlier one has brought the claim into the queue too late. */
  readonly #newest = new Map<string, { joined: boolean }>();
  #releases = 0;

  constructor(calls: Calls) {
    const { store } = calls;
    this.#calls = calls;
    this.#folder = `${calls.prefix}/l/`;
    this.name = store.name;
    this.hints = new RegisterHints(calls);
    const { values: _, ...traits } = QUEUE_TRAITS;
    this.traits = {
      ...traits,
      joinsByRace: true,
      wakes: store.watch ? 'watch' : 'never',
      ...(!store.tellsTime && { observedExpiry: true }),
      ...(store.spin && { spin: store.spin }),
      ttl: { min: store.minTtl ?? (store.tellsTime ? 1 : 100), max: MAX_DURATION_MS },
    };
    if (store.list) this.inspect = (prefix, listing = {}) => this.#inspect(prefix, listing);
    if (!store.watch) return;
    this.watch = (claim, wake) => this.#watch(claim).add(claim, () => wake());
    this.watchHold = async (claim, wake) => {
      if (this.#watches.size >= MAX_WATCHED_KEYS && !this.#watches.has(claim.key))
        throw new Error('too many are watched');
      return this.#watch(claim).add(claim, wake, true);
    };
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const { clock, proof } = this.#calls;
    const sent = clock.now();
    const isLate = (): boolean => clock.now() - sent > claim.within;
    const putOff = (queue: OpenQueue, age?: number): Asked | undefined => {
      const attempt = queue.putOff(claim, age);
      return attempt && { attempt };
    };
    const turn = { joined: false };
    this.#newest.set(claim.id, turn);
    try {
      const { attempt, joined } = await this.#document(claim.key).take({ ttl: claim.ttl, putOff }, (queue): Asked => {
        if (queue.find(claim.id)) return { attempt: queue.attempt(claim) };
        const refusal = proof?.refusal(claim.ttl) ?? (isLate() ? TOO_LATE : queue.reserve(claim));
        if (refusal) return { attempt: refusal };
        return { attempt: queue.attempt(claim), joined: queue.joined !== undefined };
      });
      if (attempt instanceof Error) throw attempt;
      if (!(joined || turn.joined) || !isLate()) return attempt;
      // The claim joined too late, so it is removed. But if a later attempt has begun, the claim is that attempt's, which may be in time.
      const newest = this.#newest.get(claim.id);
      if (newest === turn)
        await this.#document(claim.key).take({ settles: true }, (queue) =>
          queue.remove(claim.id, ({ id }) => id === claim.id),
        );
      else if (newest) newest.joined = true;
      return TOO_LATE;
    } finally {
      if (this.#newest.get(claim.id) === turn) this.#newest.delete(claim.id);
    }
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const within = leastOf(claims.map(({ ttl }) => ttl)) * RENEWAL_PART;
    return Promise.all(
      claims.map((claim) => {
        const kept = this.#calls.proof?.refusal(claim.ttl);
        const renewed = this.#document(claim.key).take({ ttl: within }, (queue) => queue.renew(claim, kept));
        // The core gets all answers at once. So an answer that does not come must not delay the others.
        return withLimit(renewed, within, Error, this.#calls.clock).catch((): Renewal => 'unknown');
      }),
    );
  }

  release({ key, id }: Handle): Promise<Release> {
    const by = `${id.slice(0, 16)}/${this.#releases++}`;
    return this.#document(key).take({ settles: true }, (queue) => ({
      freed: queue.remove(by, (claim) => claim.id === id),
    }));
  }

  evict(key: string, token: bigint): Promise<boolean> {
    const by = this.#calls.mark();
    return this.#document(key).take({}, (queue) => queue.remove(by, (claim) => claim.token === token));
  }

  async check(): Promise<Finding[]> {
    const [found, others = []] = await Promise.all([proof(this.#calls, true), this.#calls.store.check?.()]);
    return found ? [found, ...others] : others;
  }

  async close(): Promise<void> {
    await this.#calls.store.close?.();
  }

  #document(key: string): KeyDocument {
    const made = () => new QueueReader(key, this.#folder + nameOf(key), this.#calls.apart(), this.#sightings);
    const document = this.#documents.get(key) ?? new KeyDocument(made());
    this.#documents.set(key, document);
    return document;
  }

  #watch({ key }: Claim): KeyWatch {
    let watch = this.#watches.get(key);
    if (!watch) {
      const { store } = this.#calls;
      const over = (): unknown => this.#watches.delete(key);
      watch = new KeyWatch(store, this.#folder + nameOf(key), (entry) => this.#document(key).learn(entry), over);
      this.#watches.set(key, watch);
    }
    return watch;
  }

  async *#inspect(prefix: string, { exact = false, progress }: Listing): AsyncIterable<QueueEntry> {
    if (exact) return yield* await this.#entries(this.#folder + nameOf(prefix), (key) => key === prefix);
    const read = (name: string): Promise<QueueEntry[]> => this.#entries(name, (key) => key.startsWith(prefix));
    let looked = 0;
    for await (const names of inParts(this.#calls.store.list!(this.#folder + headOf(prefix)))) {
      for (const entries of await Promise.all(names.map(read))) {
        yield* entries;
        progress?.(++looked);
      }
    }
  }

  async #entries(name: string, isWanted: (key: string) => boolean): Promise<QueueEntry[]> {
    const entry = await this.#calls.read(name);
    const key = entry.text === undefined ? undefined : keyOf(entry.text);
    return key === undefined || !isWanted(key) ? [] : this.#document(key).learn(entry).entries(key);
  }
}

async function* inParts(names: AsyncIterable<string>): AsyncIterable<string[]> {
  const part: string[] = [];
  for await (const name of names) if (part.push(name) === MAX_READS_AT_ONCE) yield part.splice(0);
  yield part;
}

/** The answer to an attempt, or the error for its caller alone, and whether the attempt brought the claim into the queue. */
interface Asked {
  readonly attempt: Attempt | Error;
  readonly joined?: boolean;
}

/** The watch of one key. It serves all claims of this process that wait for the key, or hold it for a while. */
class KeyWatch {
  readonly #claims = new Set<{ readonly id: string; readonly wake: () => void; readonly holds: boolean }>();
  readonly #learn: (entry: RegisterEntry) => OpenQueue;
  readonly #over: () => void;
  readonly #armed: Promise<AsyncDisposable>;

  /** @param over called when no claim needs the watch any more */
  constructor(store: RegisterStore, name: string, learn: (entry: RegisterEntry) => OpenQueue, over: () => void) {
    this.#learn = learn;
    this.#over = over;
    this.#armed = (async () => store.watch!(name, (entry) => this.#notify(entry)))();
    this.#armed.catch(over); // the next waiter tries again, with a watch of its own
  }

  /** @param holds true: the claim is woken when it holds no more; false: when it waits no more */
  async add({ id }: Claim, wake: () => void, holds = false): Promise<AsyncDisposable> {
    const mine = { id, wake, holds };
    this.#claims.add(mine);
    await this.#armed;
    return {
      [Symbol.asyncDispose]: async () => {
        if (!this.#claims.delete(mine) || this.#claims.size > 0) return;
        this.#over();
        this.#armed.then((watch) => watch[Symbol.asyncDispose]()).catch(() => {});
      },
    };
  }

  /** Wakes the claims that no longer wait, or no longer hold. A queue changes with every sign of life, so most changes wake nobody. */
  #notify(entry: RegisterEntry | undefined): void {
    let queue: OpenQueue | undefined;
    try {
      queue = entry && this.#learn(entry);
    } catch {} // all are woken, and the next attempt reports the error
    for (const { id, wake, holds } of [...this.#claims]) if (queue?.find(id)?.held !== holds) wake();
  }
}
