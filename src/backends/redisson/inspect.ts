import { ALL_UNITS, type Listing, type QueueEntry } from '../../core/index.ts';
import { inspect } from '../redis-foreign/inspect.ts';
import type { ForeignServer } from '../redis-foreign/server.ts';
import { isApart, keysOf } from './keys.ts';
import { INSPECT } from './scripts.generated.ts';

/** The form of owners that Redisson writes. A database may have other hashes that look like a lock. */
const OWNER = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}):(\d+)(?::write)?$/;

export async function inspectRedisson(
  server: ForeignServer,
  start: string,
  listing: Listing = {},
): Promise<AsyncIterable<QueueEntry>> {
  return inspect(server, start, listing, (names) => holdersOf(server, names, listing.exact === true));
}

/** @param any whether holders are shown whose owner does not match `OWNER` */
async function holdersOf(server: ForeignServer, found: readonly string[], any: boolean): Promise<QueueEntry[]> {
  const { cluster } = server.port;
  // In a Cluster a name whose keys are in different slots is no lock, and the server would refuse the whole script.
  const names = found.filter((name) => any || !cluster || !isApart(server.naming.keyOf(name)));
  if (names.length === 0) return [];
  const all = names.map((name) => keysOf(server.naming, name, server.port.cluster));
  const keys = all.flatMap(({ lock, records, fairQueue, fairEnds }) => [lock, records, fairQueue, fairEnds]);
  const reply = await server.ask('inspect', { script: INSPECT, keys, args: all.map(({ reads }) => reads) });
  const [time, ...rows] = reply as [unknown, ...unknown[][]];
  const indexOf = ({ key }: { readonly key: string }): number => names.indexOf(key);
  const entries = rows
    .filter(([, , , owner, ours]) => any || Number(ours) === 1 || OWNER.test(`${owner}`))
    .map(([i, remaining, number, owner, ours, label, what]): Omit<QueueEntry, 'position'> => {
      const token = BigInt(`${number}`);
      const since = (Number(time) - Number(token)) / 1_000;
      return {
        ...{ key: names[Number(i)]!, held: what !== 'wait', token, capacity: ALL_UNITS },
        units: what === 'read' ? 1 : ALL_UNITS,
        label: Number(ours) === 1 ? `${label}` : labelOf(`${owner}`),
        remaining: Number(remaining) < 0 ? Number.POSITIVE_INFINITY : Number(remaining),
        // The token of a fenced lock is no time, and gives no `since`.
        ...(Number(ours) === 1 && Number(token) > MIN_TIME_US && since >= 0 && { since }),
      };
    });
  // The holds of one key come together, before its waiters, which keep their order.
  return entries
    .sort(
      (a, b) => indexOf(a) - indexOf(b) || Number(b.held) - Number(a.held) || (a.held ? Number(a.token - b.token) : 0),
    )
    .map((entry, i, sorted) => {
      return { ...entry, position: i - sorted.findIndex(({ key }) => key === entry.key) };
    });
}

/** A token above this is the time of a server in µs. No counter gets so far. */
const MIN_TIME_US = 1e15;

/** A Java program knows both parts of an owner: `getId()` of its client, and the id of the thread. */
function labelOf(owner: string): string {
  const [, client, thread] = OWNER.exec(owner) ?? [];
  return client ? `Redisson, client ${client}, thread ${thread}` : 'another program';
}
