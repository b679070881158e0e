import { type Listing, LockError, type QueueEntry } from '../../core/index.ts';
import { parts } from '../redis/command-batcher.ts';
import { escapePattern, scan } from '../redis/inspect.ts';
import type { ForeignServer } from './server.ts';

/** The number of keys that one script looks at. */
const KEYS_PER_SCRIPT = 500;

/**
 * Lists the holders of the lock `start`, or of all locks whose names begin with `start`.
 * @param holdersOf asks for the holders of some locks
 */
export async function* inspect(
  server: ForeignServer,
  start: string,
  { exact = false, progress }: Listing = {},
  holdersOf: (names: readonly string[]) => Promise<QueueEntry[]>,
): AsyncIterable<QueueEntry> {
  if (exact) {
    yield* await holdersOf([start]);
    return;
  }
  const around = server.naming.around(start);
  if (!around) {
    const message = `${server.name} can list locks only where key() puts texts before and behind the name; ask for one lock by its name`;
    throw new LockError('LOCK_UNSUPPORTED', message, { backend: server.name });
  }
  const { keyPrefix } = server.port;
  const before = keyPrefix + around.before;
  const pattern = `${escapePattern(before)}*${escapePattern(around.after)}`;
  const seen = new Set<string>(); // SCAN may give a key twice
  for await (const keys of scan(server.port, pattern, progress)) {
    const names = keys
      .filter((key) => key.length >= before.length + around.after.length)
      .map((key) => [start + key.slice(before.length, key.length - around.after.length), key] as const)
      .filter(([name, key]) => name !== '' && !seen.has(name) && keyPrefix + server.keyOf(name) === key)
      .map(([name]) => name);
    for (const name of names) seen.add(name);
    for (const page of parts(names, server.port.cluster ? 1 : KEYS_PER_SCRIPT)) yield* await holdersOf(page);
  }
}
