import type { Listing, Standing } from '../../core/contract/backend.ts';
import type { Lines } from './lines.ts';
import { list } from './sql.generated.ts';
import { lapse, liveLine, MICRO } from './stored-line.ts';

/** Below and above every byte of UTF-8. */
const [FIRST_BYTE, LAST_BYTE] = [Buffer.from([0]), Buffer.from([255])];

/** The lines of the keys that begin with `prefix`, some rows at a time. */
export async function* standings(lines: Lines, prefix: string, { exact = false }: Listing): AsyncGenerator<Standing> {
  const to = Buffer.concat([lines.lockNameOf(prefix), exact ? FIRST_BYTE : LAST_BYTE]);
  for (let from = lines.lockNameOf(prefix); ; ) {
    const [, ...rows] = await lines.table.read(list, { from, to });
    for (const { name, line, now } of rows) yield* standingsIn(lines.keyOf(name), String(line), Number(now));
    if (rows.length === 0) return;
    from = Buffer.concat([rows.at(-1)!.name as Buffer, FIRST_BYTE]);
  }
}

function* standingsIn(key: string, line: string, now: number): Generator<Standing> {
  const { places, held } = liveLine(line, now);
  for (const [position, place] of places.entries()) {
    const { ticket, take, of, label, joined } = place;
    const holds = position < held;
    const remaining = (lapse(place, holds) - now) / MICRO;
    yield { key, held: holds, position, ticket, take, of, label, since: (now - joined) / MICRO, remaining };
  }
}
