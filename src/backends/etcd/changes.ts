import type { Client } from './client.ts';
import { endOf } from './line.ts';
import { listing } from './ops.ts';
import type { Watches } from './wake-ups.ts';

/** Tells once of the next change of a line after now, or when the watch can no longer be trusted. */
export async function watchLine(
  client: Client,
  watches: Watches,
  line: Buffer,
  tell: () => void,
): Promise<AsyncDisposable> {
  const { header } = await client.range({ ...listing(line), keysOnly: true, limit: 1n });
  const from = header!.revision + 1n;
  const end = await watches.watch({ key: line, rangeEnd: endOf(line), puts: true, from }, tell);
  return { [Symbol.asyncDispose]: async () => end() };
}
