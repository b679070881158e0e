import { ALL_UNITS, type Listing, type QueueEntry } from '../../core/index.ts';
import { inspect } from '../redis-foreign/inspect.ts';
import type { ForeignServer } from '../redis-foreign/server.ts';
import { INSPECT } from './scripts.generated.ts';

export async function inspectPlain(
  server: ForeignServer,
  start: string,
  listing: Listing = {},
): Promise<AsyncIterable<QueueEntry>> {
  const around = server.naming.around(start);
  // If keys are plain names, the key of any other data looks like a lock. Then holds of other programs are not listed.
  const foreign = listing.exact === true || (around !== undefined && around.before + around.after !== '');
  return inspect(server, start, listing, (names) => holdersOf(server, names, foreign));
}

/** @param foreign whether holds of other programs are listed, too */
async function holdersOf(server: ForeignServer, names: readonly string[], foreign: boolean): Promise<QueueEntry[]> {
  if (names.length === 0) return [];
  const keys = names.map((name) => server.naming.keyOf(name));
  const reply = await server.ask('inspect', { script: INSPECT, keys, args: [] });
  const [time, ...rows] = reply as [unknown, ...unknown[][]];
  return rows
    .filter(([, , , ours]) => Number(ours) === 1 || foreign)
    .map(([i, remaining, number, ours, text]): QueueEntry => {
      const token = BigInt(String(number));
      const since = (Number(time) - Number(token)) / 1_000;
      return {
        ...{ key: names[Number(i)]!, held: true, position: 0, token, units: ALL_UNITS, capacity: ALL_UNITS },
        label: Number(ours) === 1 ? String(text) : labelOf(String(text)),
        remaining: Number(remaining) < 0 ? Number.POSITIVE_INFINITY : Number(remaining),
        // The token of a node of a quorum may be ahead of the clock: then `since` is left out.
        ...(Number(ours) === 1 && since >= 0 && { since }),
      };
    });
}

/** The text of another program is secret, so its type is shown: with the text anybody could release the lock. */
const labelOf = (type: string): string =>
  type === 'string' ? 'another program' : `another program, which keeps a ${type} here`;
