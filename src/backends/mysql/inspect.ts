import type { Listing, QueueEntry } from '../../core/contract/backend.ts';
import type { Row } from './connection.ts';
import type { Lines } from './lines.ts';
import { list } from './sql.generated.ts';
import { expiry, liveLine, MICRO } from './stored-line.ts';

/** Below and above every byte of UTF-8. */
const [FIRST_BYTE, LAST_BYTE] = [Buffer.from([0]), Buffer.from([255])];

/** The lines of the keys that begin with `prefix`, some rows at a time. */
export async function* standings(lines: Lines, prefix: string, { exact = false }: Listing): AsyncGenerator<QueueEntry> {
  const ask = async (names: Names): Promise<Row[]> => (await lines.table.read(list, names)).slice(1);
  for await (const { name, line, now } of pages(ask, lines, prefix, exact))
    yield* standingsIn(lines.keyOf(name), String(line), Number(now));
}

/** From the first name up to, but not including, the second. */
export type Names = Readonly<Record<'from' | 'to', Buffer>>;

/** All rows of the keys that begin with `prefix`, or of that key. @param ask gives the first of them, in the order of their names */
export async function* pages(
  ask: (names: Names) => Promise<readonly Row[]>,
  lines: Lines,
  prefix: string,
  exact = false,
): AsyncGenerator<Row> {
  const to = Buffer.concat([lines.lockNameOf(prefix), exact ? FIRST_BYTE : LAST_BYTE]);
  for (let from = lines.lockNameOf(prefix); ; ) {
    const rows = await ask({ from, to });
    yield* rows;
    if (rows.length === 0) return;
    from = Buffer.concat([rows.at(-1)!.name as Buffer, FIRST_BYTE]);
  }
}

function* standingsIn(key: string, line: string, now: number): Generator<QueueEntry> {
  const { places, held } = liveLine(line, now);
  for (const [position, place] of places.entries()) {
    const { token, units, capacity, label, joined } = place;
    const holds = position < held;
    const remaining = (expiry(place, holds) - now) / MICRO;
    yield { key, held: holds, position, token, units, capacity, label, since: (now - joined) / MICRO, remaining };
  }
}
