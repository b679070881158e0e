import { ALL_UNITS, type Listing, LockError, type QueueEntry } from '../../core/index.ts';
import { parts } from '../redis/command-batcher.ts';
import { scan } from '../redis/inspect.ts';
import { escapePattern } from '../redis/keys.ts';
import { INSPECT } from './scripts.generated.ts';
import type { PlainServer } from './server.ts';

/** The number of keys that one script looks at. */
const KEYS_PER_SCRIPT = 500;

/** Lists the holder of one key, or of all keys that begin with the name. */
export async function* inspect(
  server: PlainServer,
  start: string,
  { exact = false, progress }: Listing = {},
): AsyncIterable<QueueEntry> {
  if (exact) {
    yield* await holdersOf(server, [start], true);
    return;
  }
  const { around, own } = server.naming;
  if (!around) {
    const message =
      'plainRedis() can list locks only where key() puts texts before and behind the name; ask for one lock by its name';
    throw new LockError('LOCK_UNSUPPORTED', message, { backend: server.name });
  }
  const before = server.port.keyPrefix + around.before;
  const pattern = `${escapePattern(before + start)}*${escapePattern(around.after)}`;
  const seen = new Set<string>(); // SCAN may give a key twice
  let looked = 0;
  for (const node of server.port.nodes()) {
    for await (const keys of scan(node, pattern)) {
      const names = keys
        .filter((key) => key.length >= before.length + around.after.length)
        .map((key) => key.slice(before.length, key.length - around.after.length))
        .filter((name) => name !== '' && !seen.has(name));
      for (const name of names) seen.add(name);
      for (const page of parts(names, server.port.cluster ? 1 : KEYS_PER_SCRIPT))
        yield* await holdersOf(server, page, own || start !== '');
      looked += keys.length;
      progress?.(looked);
    }
  }
}

/** @param foreign whether what other programs hold is shown, too */
async function holdersOf(server: PlainServer, names: readonly string[], foreign: boolean): Promise<QueueEntry[]> {
  if (names.length === 0) return [];
  const keys = names.map((name) => server.naming.keyOf(name));
  const [time, ...rows] = (await server.ask('inspect', INSPECT, keys, [])) as [unknown, ...unknown[][]];
  return rows
    .filter(([, , , ours]) => Number(ours) === 1 || foreign)
    .map(([i, left, number, ours, words]): QueueEntry => {
      const token = BigInt(String(number));
      const since = (Number(time) - Number(token)) / 1_000;
      return {
        ...{ key: names[Number(i)]!, held: true, position: 0, token, units: ALL_UNITS, capacity: ALL_UNITS },
        label: Number(ours) === 1 ? String(words) : labelOf(String(words)),
        remaining: Number(left) < 0 ? Number.POSITIVE_INFINITY : Number(left),
        // The token of a node of a quorum may be ahead of the clock.
        ...(Number(ours) === 1 && since >= 0 && { since }),
      };
    });
}

/** The text of another program is its secret: who knows it can release the lock. */
const labelOf = (type: string): string =>
  type === 'string' ? 'another program' : `another program, which keeps a ${type} here`;
