import type { Listing, Standing } from '../../core/contract/backend.ts';
import { parts } from './command-batcher.ts';
import { ended, meaning } from './errors.ts';
import { lockOf, nameOf, patternOf } from './keys.ts';
import { layouts } from './layout.ts';
import type { Node, Port } from './port.ts';
import { INSPECT, LIST } from './scripts.generated.ts';
import type { Server, Shards } from './shards.ts';
import { failed, inOrder, readStanding } from './wire.ts';

/** Names that one SCAN looks at. */
const LOOKED = '1000';
/** Keys that one script looks at: far below a millisecond where nobody holds them, about two where somebody holds each. */
const PAGE = 500;
/** Lines that are asked for at once. */
const LINES = 50;

/** A key of a page that is not free: with the claim that is alone there, or with a line that has to be read. */
interface Found {
  readonly name: string;
  readonly alone?: Standing;
}

/** Who holds and who waits, over all keys or for one. */
export class Listings {
  readonly #port: Port;
  readonly #server: Server;
  readonly #shards: Shards;
  readonly #prefix: string;

  constructor(port: Port, server: Server, shards: Shards, prefix: string) {
    this.#port = port;
    this.#server = server;
    this.#shards = shards;
    this.#prefix = prefix;
  }

  async *inspect(start: string, { exact = false, progress }: Listing = {}): AsyncIterable<Standing> {
    if (this.#port.ended) throw meaning(ended(), 'inspect'); // of a Cluster it would know no node
    if (exact) {
      yield* await this.#lineOf(start, progress);
      return;
    }
    const prefix = this.#port.keyPrefix + this.#prefix;
    const pattern = patternOf(prefix, start);
    const seen = new Set<string>(); // SCAN may give a key twice
    let looked = 0;
    for (const node of this.#port.nodes()) {
      for await (const keys of scanned(node, pattern)) {
        const names = keys.flatMap((key) => nameOf(prefix, key) ?? []).filter((name) => !seen.has(name));
        for (const page of parts(names, PAGE)) {
          const found = this.#port.cluster ? await this.#foundApart(page) : await this.#found(page);
          for (const some of parts(found, LINES)) {
            for (const { name } of some) seen.add(name);
            const lines = some.map(({ name, alone }) =>
              alone ? [alone] : this.#lineOf(name, () => progress?.(looked)),
            );
            for (const line of await Promise.all(lines)) yield* line;
          }
        }
        looked += keys.length;
        progress?.(looked);
      }
    }
  }

  /** Those of a page that are not free, by one script. */
  async #found(names: readonly string[]): Promise<Found[]> {
    if (names.length === 0) return [];
    const locks = names.map((name) => lockOf(this.#prefix, name));
    const reply = (await this.#asked(undefined, () => this.#server.run(LIST, locks, []))) as unknown[];
    const found: Found[] = [];
    for (let i = 1; i < reply.length; i += 2) {
      const name = names[Number(reply[i])]!;
      const row = String(reply[i + 1]);
      if (failed(row)) throw meaning(new Error(row.slice(2)), 'inspect', name);
      found.push(
        row === '' ? { name } : { name, alone: { ...readStanding(name, String(reply[0]), row), position: 0 } },
      );
    }
    return found;
  }

  /** In a Cluster no script may name keys of several slots: by commands that travel together. */
  async #foundApart(names: readonly string[]): Promise<Found[]> {
    const values = await Promise.all(
      names.map((name) => this.#server.command('inspect', 'GET', [lockOf(this.#prefix, name)])),
    );
    return names.flatMap((name, i) =>
      values[i] === null || `${values[i]}`.startsWith(layouts.free.kind) ? [] : [{ name }],
    );
  }

  /** The line of one key, portion by portion. */
  async #lineOf(name: string, progress?: (looked: number) => void): Promise<Standing[]> {
    const standings = new Map<bigint, Omit<Standing, 'position'>>(); // whoever moved on in between is met twice
    let place = '';
    do {
      const asked = { key: name, args: [place] };
      const reply = await this.#asked(name, () => this.#shards.askOne(INSPECT, asked));
      const [now, rest, ...rows] = (reply as unknown[]).map(String);
      for (const row of rows) {
        const standing = readStanding(name, now!, row);
        standings.set(standing.ticket, standing);
      }
      place = rest!;
      if (place !== '') progress?.(1);
    } while (place !== '');
    return inOrder([...standings.values()]);
  }

  async #asked<T>(name: string | undefined, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw meaning(error, 'inspect', name);
    }
  }
}

async function* scanned(node: Node, pattern: string): AsyncIterable<string[]> {
  let cursor = '0';
  do {
    let reply: [unknown, unknown[]];
    try {
      reply = (await node.command('SCAN', cursor, 'MATCH', pattern, 'COUNT', LOOKED)) as [unknown, unknown[]];
    } catch (error) {
      throw meaning(error, 'inspect');
    }
    yield reply[1].map(String);
    cursor = `${reply[0]}`;
  } while (cursor !== '0');
}
