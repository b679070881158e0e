import type { Clock, Hints } from '../../core/index.ts';
import { encodeKey } from './names.ts';
import { type Ask, putNode, read, removeNode, sweep, timeAt } from './nodes.ts';
import type { Acl } from './wire/operations.ts';

/** No key has this node: `@` is encoded in keys. */
const FOLDER = '@hints';

/** Hints in persistent nodes. A hint counts for so many ms from the time at which its node was written, by the clock of the leader. */
export class ZookeeperHints implements Hints {
  readonly #folder: string;
  readonly #acl: readonly Acl[];
  readonly #clock: Clock;
  readonly #ask: Ask;

  constructor(root: string, acl: readonly Acl[], clock: Clock, ask: Ask) {
    this.#folder = `${root}/${FOLDER}`;
    this.#acl = acl;
    this.#clock = clock;
    this.#ask = ask;
  }

  read(name: string): Promise<string | undefined> {
    return this.#ask('read a hint', async (connection) => {
      // Both are sent at once, since the server answers in order. The write that tells the time also sees all earlier writes.
      const [now, node] = await Promise.all([timeAt(connection, this.#folder), read(connection, this.#pathOf(name))]);
      if (!node) return undefined;
      const stored = node.data.toString();
      return node.stat.mtime + lasts(stored) > now ? stored.slice(stored.indexOf(' ') + 1) : undefined;
    });
  }

  write(name: string, text: string | undefined, ttl: number): Promise<void> {
    return this.#ask('write a hint', async (connection) => {
      const path = this.#pathOf(name);
      if (text === undefined) await removeNode(connection, path);
      else await putNode(connection, path, Buffer.from(`${Math.ceil(ttl)} ${text}`), this.#acl);
      await sweep(connection, this.#folder, this.#clock.random(), lasts);
    });
  }

  #pathOf(name: string): string {
    return `${this.#folder}/${encodeKey(name)}`;
  }
}

/** The ms for which a stored hint counts. */
const lasts = (stored: string): number => Number.parseInt(stored, 10);
