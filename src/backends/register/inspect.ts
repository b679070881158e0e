import type { QueueEntry } from '../../core/index.ts';

/** Reads under way at a time. */
const AT_ONCE = 16;

/**
 * The claims of all queues with these names.
 * @param read the claims of one queue
 * @param progress called with the number of queues read so far
 */
export async function* entriesAmong(
  names: AsyncIterable<string>,
  read: (name: string) => Promise<readonly QueueEntry[]>,
  progress?: (looked: number) => void,
): AsyncIterable<QueueEntry> {
  let looked = 0;
  async function* all(some: readonly string[]): AsyncIterable<QueueEntry> {
    for (const entries of await Promise.all(some.map(read))) {
      yield* entries;
      progress?.(++looked);
    }
  }
  const some: string[] = [];
  for await (const name of names) {
    some.push(name);
    if (some.length === AT_ONCE) yield* all(some.splice(0));
  }
  yield* all(some);
}
