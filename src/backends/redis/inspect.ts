import type { Listing, QueueEntry } from '../../core/index.ts';
import { parts } from './command-batcher.ts';
import { closedError, meaning } from './errors.ts';
import { layouts } from './layout.ts';
import type { Port } from './port.ts';
import { INSPECT, LIST } from './scripts.generated.ts';
import { encode, type Shards, valueKeyOf } from './server.ts';
import { isFailure, US_PER_MS } from './wire.ts';

const KEYS_PER_SCAN = '1000';
/** The number of keys that one script looks at. That takes far less than a millisecond if all are free, about two milliseconds if all are held. */
const KEYS_PER_SCRIPT = 500;
const QUEUES_AT_ONCE = 50;

/** A key that is not free: either one claim is alone there, or the key has a queue, which is read separately. */
interface TakenKey {
  readonly name: string;
  readonly alone?: QueueEntry;
}

export class Listings {
  readonly #shards: Shards;

  constructor(shards: Shards) {
    this.#shards = shards;
  }

  async *inspect(start: string, { exact = false, progress }: Listing = {}): AsyncIterable<QueueEntry> {
    if (this.#shards.port.ended) throw meaning(closedError(), 'inspect'); // an ended client of a Cluster would list nothing
    if (exact) {
      yield* await this.#queueOf(start, progress);
      return;
    }
    const prefix = this.#shards.port.keyPrefix + this.#shards.prefix;
    const pattern = patternOf(prefix, start);
    const seen = new Set<string>(); // SCAN may give a key twice
    let looked = 0;
    const goesOn = (count = looked): void => {
      looked = count;
      progress?.(looked);
    };
    for await (const keys of scan(this.#shards.port, pattern, goesOn)) {
      const names = keys.flatMap((key) => nameOf(prefix, key) ?? []).filter((name) => !seen.has(name));
      for (const page of parts(names, KEYS_PER_SCRIPT)) {
        const found = this.#shards.port.cluster ? await this.#findOneByOne(page) : await this.#findTogether(page);
        for (const some of parts(found, QUEUES_AT_ONCE)) {
          for (const { name } of some) seen.add(name);
          const queues = some.map(({ name, alone }) => (alone ? [alone] : this.#queueOf(name, () => goesOn())));
          for (const queue of await Promise.all(queues)) yield* queue;
        }
      }
    }
  }

  async *withValue(start: string, progress?: Listing['progress']): AsyncIterable<string> {
    const prefix = this.#shards.port.keyPrefix + this.#shards.prefix;
    const seen = new Set<string>();
    for await (const keys of scan(this.#shards.port, valueKeyOf(patternOf(prefix, start)), progress)) {
      for (const name of keys.flatMap((key) => nameOf(prefix, key.slice(0, -valueKeyOf('').length)) ?? [])) {
        if (!seen.has(name)) yield name;
        seen.add(name);
      }
    }
  }

  /** Finds the keys that are not free, by one script. */
  async #findTogether(names: readonly string[]): Promise<TakenKey[]> {
    if (names.length === 0) return [];
    const locks = names.map((name) => this.#shards.keyOf(name));
    const reply = (await this.#translateErrors(undefined, () => this.#shards.run(LIST, locks, []))) as unknown[];
    const found: TakenKey[] = [];
    for (let i = 1; i < reply.length; i += 2) {
      const name = names[Number(reply[i])]!;
      const row = String(reply[i + 1]);
      if (isFailure(row)) throw meaning(new Error(row.slice(2)), 'inspect', name);
      found.push(row === '' ? { name } : { name, alone: { ...readEntry(name, String(reply[0]), row), position: 0 } });
    }
    return found;
  }

  /** Finds the keys that are not free in a Cluster, where a script may not name keys of several slots: by one GET per key, all sent together. */
  async #findOneByOne(names: readonly string[]): Promise<TakenKey[]> {
    const asked = names.map((name) => this.#shards.command('inspect', 'GET', [this.#shards.keyOf(name)]));
    const values = await Promise.all(asked);
    return names.flatMap((name, i) =>
      values[i] === null || `${values[i]}`.startsWith(layouts.free.kind) ? [] : [{ name }],
    );
  }

  /** Reads the queue of one key, portion by portion. */
  async #queueOf(name: string, progress?: (looked: number) => void): Promise<QueueEntry[]> {
    const entries = new Map<bigint, Omit<QueueEntry, 'position'>>(); // a claim that moves on between two portions is read twice
    let place = '';
    do {
      const request = { key: name, args: [place] };
      const reply = await this.#translateErrors(name, () => this.#shards.askOne(INSPECT, request));
      const [now, rest, ...rows] = (reply as unknown[]).map(String);
      for (const row of rows) {
        const entry = readEntry(name, now!, row);
        entries.set(entry.token, entry);
      }
      place = rest!;
      if (place !== '') progress?.(1);
    } while (place !== '');
    return inOrder([...entries.values()]);
  }

  async #translateErrors<T>(name: string | undefined, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw meaning(error, 'inspect', name);
    }
  }
}

const ENTRY = /^([01]) (\d+) (\d+) (\d+) (\d+) (.*)$/s;

/** Reads a claim as lua/inspect.lua gives it. @param now the time of the engine, µs */
function readEntry(key: string, now: string, row: string): Omit<QueueEntry, 'position'> {
  const [, held, token, expiry, units, capacity, label] = ENTRY.exec(row)!;
  return {
    key,
    held: held === '1',
    token: BigInt(token!),
    units: Number(units),
    capacity: Number(capacity),
    label: label!,
    // A token is about the time at which its claim joined the queue.
    since: Math.max(0, Number(now) - Number(token)) / US_PER_MS,
    remaining: (Number(expiry) - Number(now)) / US_PER_MS,
  };
}

/** Sorts the holders before the waiters: a quorum may have raised the token of a holder above those of waiters. */
const inOrder = (entries: readonly Omit<QueueEntry, 'position'>[]): QueueEntry[] =>
  [...entries]
    .sort((a, b) => Number(b.held) - Number(a.held) || Number(a.token - b.token))
    .map((entry, position) => ({ ...entry, position }));

/** Gives the name of the lock that has this key, or undefined for any other key. */
export function nameOf(prefix: string, key: string): string | undefined {
  const start = `${prefix}:{`;
  if (!key.startsWith(start) || !key.endsWith('}')) return undefined;
  const encoded = key.slice(start.length, -1);
  return encoded.includes('}') ? undefined : encoded.replace(/%(25|7B|7D)/g, decodeURIComponent);
}

/** Makes the pattern with which SCAN finds all locks whose names begin with `start`. */
export function patternOf(prefix: string, start: string): string {
  return `${escapePattern(`${prefix}:{${encode(start)}`)}*}`;
}

/** Makes a pattern of SCAN that matches only this text. */
export const escapePattern = (text: string): string => text.replace(/[\\*?[\]^-]/g, '\\$&');

/**
 * Gives the keys of all servers that match the pattern, some at a time. SCAN may give a key twice.
 * @param progress called with the number of keys given so far, after the caller has used them
 */
export async function* scan(
  port: Port,
  pattern: string,
  progress: Listing['progress'] = () => {},
): AsyncIterable<string[]> {
  let looked = 0;
  for (const node of port.nodes()) {
    let cursor = '0';
    do {
      const asked = node.command('SCAN', cursor, 'MATCH', pattern, 'COUNT', KEYS_PER_SCAN);
      const [next, keys] = (await asked.catch((error) => {
        throw meaning(error, 'inspect');
      })) as [unknown, unknown[]];
      yield keys.map(String);
      looked += keys.length;
      progress(looked);
      cursor = `${next}`;
    } while (cursor !== '0');
  }
}
