import type { Listing, QueueEntry } from '../../core/index.ts';
import { parts } from './command-batcher.ts';
import { closedError, meaning } from './errors.ts';
import { nameOf, patternOf, valueKeyOf } from './keys.ts';
import { layouts } from './layout.ts';
import type { Node } from './port.ts';
import { INSPECT, LIST } from './scripts.generated.ts';
import type { Shards } from './shards.ts';
import { inOrder, isFailure, readEntry } from './wire.ts';

/** The number of names that one SCAN looks at. */
const KEYS_PER_SCAN = '1000';
/**
 * The number of keys that one script looks at. It takes far less than a millisecond if nobody holds them, and about two if each is held.
 */
const KEYS_PER_SCRIPT = 500;
/** The number of queues that are asked for at once. */
const QUEUES_AT_ONCE = 50;

/** A key that is not free. Either one claim is alone there, or the key has a queue, which has to be read. */
interface TakenKey {
  readonly name: string;
  readonly alone?: QueueEntry;
}

/** Lists the holders and waiters of one key, or of all keys. */
export class Listings {
  readonly #shards: Shards;

  constructor(shards: Shards) {
    this.#shards = shards;
  }

  async *inspect(start: string, { exact = false, progress }: Listing = {}): AsyncIterable<QueueEntry> {
    if (this.#shards.port.ended) throw meaning(closedError(), 'inspect'); // an ended client of a Cluster knows no node
    if (exact) {
      yield* await this.#queueOf(start, progress);
      return;
    }
    const prefix = this.#shards.port.keyPrefix + this.#shards.prefix;
    const pattern = patternOf(prefix, start);
    const seen = new Set<string>(); // SCAN may give a key twice
    let looked = 0;
    for (const node of this.#shards.port.nodes()) {
      for await (const keys of scan(node, pattern)) {
        const names = keys.flatMap((key) => nameOf(prefix, key) ?? []).filter((name) => !seen.has(name));
        for (const page of parts(names, KEYS_PER_SCRIPT)) {
          const found = this.#shards.port.cluster ? await this.#findOneByOne(page) : await this.#findTogether(page);
          for (const some of parts(found, QUEUES_AT_ONCE)) {
            for (const { name } of some) seen.add(name);
            const queues = some.map(({ name, alone }) =>
              alone ? [alone] : this.#queueOf(name, () => progress?.(looked)),
            );
            for (const queue of await Promise.all(queues)) yield* queue;
          }
        }
        looked += keys.length;
        progress?.(looked);
      }
    }
  }

  /** The keys of locks that have a value beside them. */
  async *withValue(start: string, progress?: Listing['progress']): AsyncIterable<string> {
    const prefix = this.#shards.port.keyPrefix + this.#shards.prefix;
    const seen = new Set<string>();
    let looked = 0;
    for (const node of this.#shards.port.nodes())
      for await (const keys of scan(node, valueKeyOf(patternOf(prefix, start)))) {
        const names = keys.flatMap((key) => nameOf(prefix, key.slice(0, -valueKeyOf('').length)) ?? []);
        for (const name of names) {
          if (!seen.has(name)) yield name;
          seen.add(name);
        }
        looked += keys.length;
        progress?.(looked);
      }
  }

  /** Finds those of the keys that are not free, by one script. */
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

  /** Does the same in a Cluster, where no script may name keys of several slots: by commands that are sent together. */
  async #findOneByOne(names: readonly string[]): Promise<TakenKey[]> {
    const values = await Promise.all(
      names.map((name) => this.#shards.command('inspect', 'GET', [this.#shards.keyOf(name)])),
    );
    return names.flatMap((name, i) =>
      values[i] === null || `${values[i]}`.startsWith(layouts.free.kind) ? [] : [{ name }],
    );
  }

  /** Reads the queue of one key, portion by portion. */
  async #queueOf(name: string, progress?: (looked: number) => void): Promise<QueueEntry[]> {
    const entries = new Map<bigint, Omit<QueueEntry, 'position'>>(); // a claim that moved on in between is read twice
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

/** Gives all keys of a server that fit the pattern, some at a time and perhaps twice. */
export async function* scan(node: Node, pattern: string): AsyncIterable<string[]> {
  let cursor = '0';
  do {
    let reply: [unknown, unknown[]];
    try {
      reply = (await node.command('SCAN', cursor, 'MATCH', pattern, 'COUNT', KEYS_PER_SCAN)) as [unknown, unknown[]];
    } catch (error) {
      throw meaning(error, 'inspect');
    }
    yield reply[1].map(String);
    cursor = `${reply[0]}`;
  } while (cursor !== '0');
}
