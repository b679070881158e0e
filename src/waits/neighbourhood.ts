import { type LockRuntime, listOf, type QueueEntry } from '../core/index.ts';
import { type ClaimQueues, queuesOf } from './claims.ts';

/** How many keys one look reads for one wait at most. Only `waits()` finds a deadlock over more keys. */
const MAX_KEYS = 64;

/** A wait, and the keys of the holds around it. */
export interface Inside {
  readonly key: string;
  readonly inside: readonly string[];
}

/**
 * Reads the queues in which a deadlock of these waits would be. It reads the queues of the holds around a wait, then those of the holds around the
 * waiters found, and so on, and at last the queue that the wait is in. If no claim waits for the holds around a wait, the result has no queue for that wait.
 */
export async function neighbourhood(runtime: LockRuntime, waits: readonly Inside[]): Promise<ClaimQueues> {
  const reading = new Reading(runtime);
  await reading.read(waits.flatMap(({ inside }) => inside));
  const keys = new Set<string>();
  for (const wait of waits) for (const key of await around(reading, wait)) keys.add(key);
  return reading.queues(keys);
}

/** The keys of the queues for one wait; none if no claim waits for its holds, or the keys are too many. */
async function around(reading: Reading, { key, inside }: Inside): Promise<ReadonlySet<string>> {
  const found = new Set(inside);
  let waitedFor = false;
  for (let next = [...found]; next.length > 0; ) {
    if (found.size > MAX_KEYS) return new Set();
    await reading.read(next);
    const outer = next.map((key) => reading.outer(key));
    waitedFor ||= outer.some((keys) => keys !== undefined);
    next = [...new Set(outer.flatMap((keys) => [...(keys ?? [])]))].filter((key) => !found.has(key));
    for (const key of next) found.add(key);
  }
  if (!waitedFor) return new Set();
  await reading.read([key]);
  return found.add(key);
}

/** The queues that one look reads, each once. */
class Reading {
  readonly #runtime: LockRuntime;
  readonly #read = new Map<string, QueueEntry[]>();
  readonly #outer = new Map<string, ReadonlySet<string> | undefined>();

  constructor(runtime: LockRuntime) {
    this.#runtime = runtime;
  }

  async read(keys: readonly string[]): Promise<void> {
    const fresh = [...new Set(keys)].filter((key) => !this.#read.has(key));
    for (const key of fresh) this.#read.set(key, []);
    for (const entry of await entriesOf(this.#runtime, fresh)) this.#read.get(entry.key)!.push(entry);
  }

  /** The keys of the holds around the waiters of a key; undefined if there are no waiters. It is computed once for each key. */
  outer(key: string): ReadonlySet<string> | undefined {
    if (this.#outer.has(key)) return this.#outer.get(key);
    const waiting = [...this.queues([key]).claims.values()].filter(({ held }) => !held);
    const outer = new Set(waiting.flatMap(({ origin }) => origin?.inside.flatMap(({ key }) => key ?? []) ?? []));
    this.#outer.set(key, waiting.length > 0 ? outer : undefined);
    return this.#outer.get(key);
  }

  queues(keys: Iterable<string>): ClaimQueues {
    const asked = [...keys];
    const entries = asked.flatMap((key) => this.#read.get(key) ?? []);
    return queuesOf(entries, this.#runtime.localEntries(asked));
  }
}

/** How many queues to ask for at a time. */
const MAX_REQUESTS = 8;

/** Lists the queues of some keys, with one request for each key. */
export async function entriesOf(runtime: LockRuntime, keys: readonly string[]): Promise<QueueEntry[]> {
  const found: QueueEntry[][] = [];
  for (let from = 0; from < keys.length; from += MAX_REQUESTS) {
    const queues = await Promise.all(
      keys.slice(from, from + MAX_REQUESTS).map((key) => listOf(runtime.engine.inspect(key, { exact: true }))),
    );
    found.push(queues.flat());
  }
  return found.flat();
}
