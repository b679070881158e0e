import type { Hints } from '../../core/index.ts';
import { encodeKey } from './names.ts';
import { type Ask, putNode, read, removeNode, sweep, timeAt } from './nodes.ts';
import type { Settings } from './options.ts';

/** No key has this node: `@` is encoded in keys. */
const FOLDER = '@hints';

/** Hints in persistent nodes. A hint counts for so many ms from the time at which its node was written, by the clock of the leader. */
export function hintsIn({ root, acl, clock }: Settings, ask: Ask): Hints {
  const folder = `${root}/${FOLDER}`;
  const pathOf = (name: string): string => `${folder}/${encodeKey(name)}`;
  return {
    read: (name) =>
      ask('read a hint', async (connection) => {
        // Both are sent at once, since the server answers in order. The write that tells the time also sees all earlier writes.
        const [now, node] = await Promise.all([timeAt(connection, folder), read(connection, pathOf(name))]);
        if (!node) return undefined;
        const stored = node.data.toString();
        return node.stat.mtime + lasts(stored) > now ? stored.slice(stored.indexOf(' ') + 1) : undefined;
      }),
    write: (name, text, ttl) =>
      ask('write a hint', async (connection) => {
        const path = pathOf(name);
        if (text === undefined) await removeNode(connection, path);
        else await putNode(connection, path, Buffer.from(`${Math.ceil(ttl)} ${text}`), acl);
        await sweep(connection, folder, clock.random(), lasts);
      }),
  };
}

/** The ms for which a stored hint counts. */
const lasts = (stored: string): number => Number.parseInt(stored, 10);
