import { admitted } from '../../core/contract/admission.ts';
import type { QueueEntry } from '../../core/contract/backend.ts';
import { type ClaimEntry, entryOf } from './queue.ts';
import { wordsRange } from './stored-values.ts';
import { type Client, TIME_TO_LIVE } from './wire/client.ts';
import { endOf } from './wire/messages.ts';

const PAGE = 1_000n;

/** All claims on keys that begin with `start` (`exact`: on that key), line by line, as of one revision. */
export async function* inspect(
  client: Client,
  prefix: string,
  start: string,
  exact: boolean,
): AsyncIterable<QueueEntry> {
  let line: ClaimEntry[] = [];
  const first = Buffer.from(`${prefix}/${encodeURIComponent(start)}${exact ? '/' : ''}`);
  const spans = start === '' && !exact ? aroundWords(prefix, first) : [[first, endOf(first)] as const];
  for await (const place of places(client, spans)) {
    if (line.length > 0 && keyOf(line[0]!) !== keyOf(place)) {
      yield* standings(client, line);
      line = [];
    }
    line.push(place);
  }
  yield* standings(client, line);
}

type Span = readonly [from: Buffer, to: Buffer];

/** All names of a prefix but those of words, which may be long and are not listed. */
function aroundWords(prefix: string, first: Buffer): Span[] {
  const [from, to] = wordsRange(prefix);
  return [
    [first, from],
    [to, endOf(first)],
  ];
}

/** In the order of the names, so that the places of one key follow each other. */
async function* places(client: Client, spans: readonly Span[]): AsyncIterable<ClaimEntry> {
  let revision = 0n;
  for (const [from, rangeEnd] of spans) {
    let key = from;
    for (let more = true; more; ) {
      const page = await client.range({ key, rangeEnd, limit: PAGE, revision });
      yield* page.kvs.map(entryOf).filter((place) => keyOf(place) !== undefined);
      revision ||= page.header!.revision;
      more = page.more;
      if (more) key = Buffer.concat([page.kvs.at(-1)!.key, Buffer.from([0])]);
    }
  }
}

async function* standings(client: Client, line: ClaimEntry[]): AsyncIterable<QueueEntry> {
  line.sort((a, b) => (a.token < b.token ? -1 : 1));
  const holders = admitted(line);
  const left = await Promise.all(line.map(({ lease }) => remaining(client, lease)));
  for (const [position, place] of line.entries()) {
    const { token, units, capacity, label } = place;
    const key = keyOf(place)!;
    yield { key, held: position < holders, position, token, units, capacity, label, remaining: left[position]! };
  }
}

/** ms. etcd tells full seconds, rounded down. A key without a lease, which only another program puts, stays for ever. */
async function remaining(client: Client, lease: bigint): Promise<number> {
  if (lease === 0n) return Number.POSITIVE_INFINITY;
  const { ttl, granted } = await client.call(TIME_TO_LIVE, { id: lease });
  return ttl < 0n ? 0 : Math.min(Number(ttl) + 1, Number(granted)) * 1_000;
}

/** The key whose line this name stands in; undefined for another program's name that stands in none. */
function keyOf({ name }: ClaimEntry): string | undefined {
  const parts = name.toString().split('/');
  try {
    return parts.length === 3 ? decodeURIComponent(parts[1]!) : undefined;
  } catch {
    return undefined;
  }
}
