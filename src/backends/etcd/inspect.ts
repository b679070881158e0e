import type { QueueEntry } from '../../core/index.ts';
import { entriesOf } from '../shared/stored-queue.ts';
import { type ClaimEntry, entryOf } from './queue.ts';
import { valueSpan } from './stored-values.ts';
import type { Client } from './wire/client.ts';
import { endOf, TIME_TO_LIVE } from './wire/messages.ts';

/** All claims on keys that begin with `start` (`exact`: on that key), queue by queue, as of one revision. */
export async function* inspect(
  client: Client,
  prefix: string,
  start: string,
  exact: boolean,
): AsyncIterable<QueueEntry> {
  let queue: ClaimEntry[] = [];
  let queueKey: string | undefined;
  const first = Buffer.from(`${prefix}/${encodeURIComponent(start)}${exact ? '/' : ''}`);
  const [from, to] = valueSpan(prefix); // values may be long and are not listed
  const isAll = start === '' && !exact;
  // In the order of the names, so that the claims of one key follow each other.
  for await (const found of client.all(
    isAll
      ? [
          [first, from],
          [to, endOf(first)],
        ]
      : [[first, endOf(first)]],
  )) {
    const key = keyOf(found.key);
    if (key === undefined) continue;
    if (key !== queueKey) {
      if (queueKey !== undefined) yield* entries(client, queueKey, queue);
      queue = [];
    }
    queueKey = key;
    queue.push(entryOf(found));
  }
  if (queueKey !== undefined) yield* entries(client, queueKey, queue);
}

async function* entries(client: Client, key: string, queue: ClaimEntry[]): AsyncIterable<QueueEntry> {
  queue.sort((a, b) => (a.token < b.token ? -1 : 1));
  const remain = await Promise.all(queue.map(({ lease }) => remaining(client, lease)));
  yield* entriesOf(
    key,
    queue.map((claim, position) => ({ ...claim, remaining: remain[position]! })),
  );
}

/** ms. etcd tells full seconds, rounded down. A key without a lease, which only another program puts, stays for ever. */
async function remaining(client: Client, lease: bigint): Promise<number> {
  if (lease === 0n) return Number.POSITIVE_INFINITY;
  const { ttl, granted } = await client.call(TIME_TO_LIVE, { id: lease });
  return ttl < 0n ? 0 : Math.min(Number(ttl) + 1, Number(granted)) * 1_000;
}

/** The key whose queue this name stands in; undefined for another program's name that stands in none. */
function keyOf(name: Buffer): string | undefined {
  const parts = name.toString().split('/');
  try {
    return parts.length === 3 ? decodeURIComponent(parts[1]!) : undefined;
  } catch {
    return undefined;
  }
}
