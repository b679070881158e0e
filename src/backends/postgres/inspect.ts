import type { Listing, QueueEntry } from '../../core/index.ts';
import { isTrue, type Row } from './pool.ts';
import type { Server } from './server.ts';
import * as sql from './sql.generated.ts';

/** The lines of the keys that begin with `prefix`. */
export async function* standings(
  server: Server,
  prefix: string,
  { exact = false }: Listing,
): AsyncGenerator<QueueEntry> {
  const rows = await server.send(sql.inspect, rangeOf(prefix, exact), 'a listing');
  for (const row of rows) yield standing(row);
}

/** The first key that begins with `prefix`, and one behind the last. */
export function rangeOf(prefix: string, exact = false): [from: Buffer, to: Buffer] {
  const from = Buffer.from(prefix);
  return [from, Buffer.concat([from, Uint8Array.of(exact ? 0 : 0xff)])]; // no byte of UTF-8 is 0xff
}

const textOf = (hex: unknown): string => Buffer.from(String(hex), 'hex').toString();

const standing = (row: Row): QueueEntry => ({
  key: textOf(row.key),
  held: isTrue(row.held),
  position: Number(row.position),
  token: BigInt(String(row.token)),
  units: Number(row.units),
  capacity: Number(row.capacity),
  label: textOf(row.label),
  since: Number(row.since),
  remaining: Number(row.remaining),
});
