import type { Hints, Listing, QueueEntry, ValueRecord, Values } from '../../core/index.ts';
import { rangeFrom } from '../shared/names.ts';
import { isTrue, type Row } from './pool.ts';
import type { Server } from './server.ts';
import * as sql from './sql.generated.ts';
import { fieldsOf, storedValueOf, take, textOf } from './statements.ts';

const rangeOf = (prefix: string, exact?: boolean): Buffer[] => Object.values(rangeFrom(prefix, exact));

export async function* entries(server: Server, prefix: string, { exact }: Listing): AsyncGenerator<QueueEntry> {
  const rows = await server.send(sql.inspect, rangeOf(prefix, exact), 'a listing');
  for (const row of rows) yield entryOf(row);
}

const entryOf = (row: Row): QueueEntry => ({
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

/** Hints in a table of their own. @param ready before the first statement: the tables are there */
export const hintsOf = (server: Server, ready: () => Promise<void>): Hints => ({
  async read(name) {
    await ready();
    const [row] = await server.send(sql.hint, [Buffer.from(name)], 'a hint');
    return row && String(row.text);
  },
  async write(name, text, ttl) {
    await ready();
    await take(server, 'hint', [Buffer.from(name), text ?? null, ttl]);
  },
});

/** Values in a table of their own. @param ready as for `hintsOf` */
export const storedValuesOf = (server: Server, ready: () => Promise<void>): Values => ({
  async look(key): Promise<ValueRecord> {
    await ready();
    const fields = fieldsOf(await take(server, 'look', [Buffer.from(key)], key));
    const [attempts, mark, begun] = fields.splice(-3);
    const last = { attempts: Number(attempts), mark: textOf(mark), begun: BigInt(begun!) };
    return fields[0] ? { ...last, value: storedValueOf(fields) } : last;
  },
  async *keys(prefix): AsyncIterable<string> {
    await ready();
    for (const row of await server.send(sql.valueKeys, rangeOf(prefix), 'a listing of the values'))
      yield textOf(row.key);
  },
  async forget(key) {
    await ready();
    return isTrue(await take(server, 'forget', [Buffer.from(key)], key));
  },
});
