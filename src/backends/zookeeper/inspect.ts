import type { Listing, QueueEntry } from '../../core/index.ts';
import { entriesOf } from '../shared/stored-queue.ts';
import { decodeKey, sortedQueue } from './names.ts';
import { caughtUp, list, listNow, read, removeNode } from './nodes.ts';
import type { Connection } from './wire/connection.ts';

/** Nodes read at once: enough to keep the connection busy, too few to delay the process's own requests. */
const BATCH = 256;

/** All claims on keys that begin with `prefix`, also those of Curator's clients. */
export async function* census(
  connection: Connection,
  root: string,
  prefix: string,
  progress: Listing['progress'],
): AsyncIterable<QueueEntry> {
  const { names } = await listNow(connection, root);
  for (const [looked, segment] of [...names].sort().entries()) {
    const key = decodeKey(segment);
    if (!key?.startsWith(prefix)) continue;
    yield* standings(connection, key, `${root}/${segment}`);
    progress?.(looked + 1);
  }
}

/** All claims on one key, as of now. */
export async function* queueAt(connection: Connection, key: string, parent: string): AsyncIterable<QueueEntry> {
  await caughtUp(connection, parent);
  yield* standings(connection, key, parent);
}

async function* standings(connection: Connection, key: string, parent: string): AsyncIterable<QueueEntry> {
  const queue = sortedQueue((await list(connection, parent)).names);
  const unread = { token: 0n, label: '', remaining: Number.POSITIVE_INFINITY };
  const entries = entriesOf(
    key,
    queue.map((claim) => ({ ...claim, ...unread })),
  );
  for (let from = 0; from < queue.length; from += BATCH) {
    const batch = queue.slice(from, from + BATCH);
    const nodes = await Promise.all(batch.map(({ name }) => read(connection, `${parent}/${name}`)));
    for (const [at, node] of nodes.entries()) {
      if (!node) continue; // it has left meanwhile
      yield { ...entries[from + at]!, token: node.stat.czxid, label: node.data.toString('utf8') };
    }
  }
}

/** Removes the claim with this token. Tokens grow along the queue, so the search ends early. */
export async function evictClaim(connection: Connection, parent: string, token: bigint): Promise<boolean> {
  for (const { name } of sortedQueue((await listNow(connection, parent)).names)) {
    const path = `${parent}/${name}`;
    const node = await read(connection, path);
    if (node && node.stat.czxid >= token) return node.stat.czxid === token && removeNode(connection, path);
  }
  return false;
}
