import {
  type Attempt,
  type Backend,
  type Claim,
  type Clock,
  checkNames,
  type Handle,
  type Hints,
  type Listing,
  MAX_DURATION_MS,
  type NewValue,
  namesOf,
  type QueueEntry,
  type Release,
  type Renewal,
  systemClock,
  type Traits,
  type Values,
  type Wake,
} from '../core/index.ts';
import { isHint } from './shared/names.ts';
import { EngineQueue, hintsBy, valuesBy } from './shared/queue.ts';
import { EngineTime, TokenCounter } from './shared/stored-queue.ts';
import { QUEUE_TRAITS } from './shared/traits.ts';
import { BufferedClaims } from './shared/waiting-claims.ts';

/** How many old queues are looked at for each new one: two, so that empty queues are removed faster than new ones come. */
const QUEUES_PER_SWEEP = 2;

const { renewedFrom: _, ...QUEUE } = QUEUE_TRAITS;
const TRAITS: Traits = { ...QUEUE, wakes: 'watch', ttl: { min: 1, max: MAX_DURATION_MS } };

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
  readonly #ask = async <T>(key: string, act: (queue: EngineQueue) => T): Promise<T> => this.#step(key, act);
  readonly hints: Hints = hintsBy(this.#ask);
  readonly values: Values = valuesBy(this.#ask, (prefix) => this.#keysWithValues(prefix));
  readonly #clock: Clock;
  readonly #queues = new Map<string, EngineQueue>();
  #sweeping: Iterator<string> = this.#queues.keys();
  readonly #waiting: BufferedClaims;
  /** One counter for all keys: so the tokens of each key grow, and nothing is kept for a key that is not in use. */
  readonly #tokens = new TokenCounter(0n);
  /** An empty queue, for the next new key. A queue that has become empty is used again. */
  #spare = new EngineQueue(this.#tokens);

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#waiting = new BufferedClaims(clock);
  }

  attempt(claim: Claim): Promise<Attempt> {
    return Promise.resolve(this.#step(claim.key, (queue) => queue.attempt(claim)));
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return Promise.resolve(claims.map((claim) => this.#step(claim.key, (queue) => queue.renew(claim))));
  }

  async release(handle: Handle, next?: Claim): Promise<Release> {
    const freed = this.#step(handle.key, (queue) => queue.release(handle));
    return next ? { freed, next: await this.attempt(next) } : { freed };
  }

  store(handle: Handle, value: NewValue): Promise<boolean> {
    const stored = this.#step(handle.key, (queue) => queue.store(handle, value));
    if (stored) this.#wakeAnswered(handle.key);
    return Promise.resolve(stored);
  }

  watch(claim: Claim, wake: Wake): AsyncDisposable {
    return this.#waiting.watch(claim, wake);
  }

  watchHold(claim: Claim, wake: Wake, age: number): AsyncDisposable {
    return this.#waiting.watchSince(claim, wake, age);
  }

  async *inspect(prefix: string, { exact = false }: Listing = {}): AsyncIterable<QueueEntry> {
    const keys = exact ? [prefix] : [...this.#queues.keys()].filter((name) => name.startsWith(prefix)).sort();
    for (const key of keys) yield* this.#step(key, (queue) => queue.entries(key));
  }

  evict(key: string, token: bigint): Promise<boolean> {
    const evicted = this.#step(key, (queue) => queue.evict((claim) => claim.token === token));
    if (evicted?.held) this.#waiting.addressee(evicted.id)?.wake();
    return Promise.resolve(evicted !== undefined);
  }

  async close(): Promise<void> {}

  #step<T>(key: string, act: (queue: EngineQueue) => T): T {
    const known = this.#queues.get(key);
    const queue = known ?? this.#spare;
    const answer = act(queue.at(new EngineTime(this.#clock.now())));
    if (queue.idle) {
      this.#queues.delete(key);
      this.#spare = queue;
    } else if (!known) {
      this.#spare = new EngineQueue(this.#tokens);
      this.#sweep();
      this.#queues.set(key, queue);
    }
    while (queue.admitted.length > 0) {
      const { id, token, ttl } = queue.admitted.shift()!;
      this.#waiting.get(id)?.wake({ granted: true, token, validFor: ttl });
    }
    return answer;
  }

  /** Removes from the next queues what has expired: holds of `minHold`, values of memos, claims of callers that stopped. */
  #sweep(): void {
    for (let looked = 0; looked < QUEUES_PER_SWEEP; looked++) {
      const { value: key, done } = this.#sweeping.next();
      if (done) this.#sweeping = this.#queues.keys();
      else this.#step(key, () => {});
    }
  }

  /** Wakes the claims of the key that a value may answer. It looks only at the queue of the key: very many claims may wait for other keys. */
  #wakeAnswered(key: string): void {
    for (const { id } of this.#queues.get(key)?.claims ?? []) {
      const waiting = this.#waiting.get(id);
      if (waiting?.claim.accepts) waiting.wake();
    }
  }

  async *#keysWithValues(prefix: string): AsyncIterable<string> {
    for (const [key, { record }] of [...this.#queues]) if (record && key.startsWith(prefix) && !isHint(key)) yield key;
  }
}
