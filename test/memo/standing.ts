import type { Backend, QueueEntry } from '../../src/core/contract/backend.ts';

/** Who holds a key, and who waits for it. */
export async function standing(engine: Backend, key: string): Promise<QueueEntry[]> {
  const all: QueueEntry[] = [];
  for await (const each of engine.inspect!(key, { exact: true })) all.push(each);
  return all;
}
