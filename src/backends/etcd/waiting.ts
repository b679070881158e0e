import type { Client } from './client.ts';
import type { Contender } from './contender.ts';
import { type Line, type Obstacle, obstacle, read } from './line.ts';
import { ahead, listing, look, newest, stillStands, touch } from './ops.ts';

/** Whoever watches for a permit's word that it was admitted looks at the line by itself after this, if the line has changed. ms. */
const UNTOLD = 10_000;

/** What stood in the way of a claim when its line was last listed, and what that line was. */
export interface Blocked extends Obstacle {
  /** The first revision that is news. */
  readonly from: bigint;
  /** How many stood ahead. */
  readonly ahead: number;
  /** How many stood in line, and the youngest of them. */
  readonly count: bigint;
  readonly newest: bigint;
  /** By the clock. */
  readonly listed: number;
}

export const blocked = ({ places, revision }: Line, index: number, listed: number): Blocked => ({
  ...obstacle(places, index),
  from: revision + 1n,
  ahead: index,
  count: BigInt(places.length),
  newest: places.at(-1)!.ticket,
  listed,
});

/**
 * Whether a claim that was refused still is, by a look at its own key and at what stands in its way: the answer does not grow
 * with the line. False also where that is not certain: then the line is to be listed.
 * @param watched it will be told of what changes there
 */
export async function stillRefused(
  client: Client,
  me: Contender,
  watched: boolean,
  now: number,
  ms: number,
): Promise<boolean> {
  const { state, ticket } = me;
  if (state.is !== 'waiting') return false;
  const before = state.obstacle;
  const { name, puts, from } = before;
  const byLine = puts && (!watched || now - before.listed >= UNTOLD);
  const looks = [look(me.name), name ? look(name) : ahead(me.line, ticket!), ...(byLine ? [newest(me.line)] : [])];
  const [own, other, line] = (await client.txn({ success: looks }, ms)).responses.map(({ range }) => range!);
  if (own!.kvs[0]?.createRevision !== ticket) return false;
  if (!name) return other!.kvs.length === before.ahead;
  const [found] = other!.kvs;
  // A new key of that name stands behind: who was watched has gone. One that was written has told of its admission.
  if (!found || found.createRevision >= from || (puts && found.modRevision >= from)) return false;
  return !line || (line.count === before.count && line.kvs[0]?.createRevision === before.newest);
}

/** Waiting permits watch each other: the admitted one wakes the next by a write. Should it be lost, that one looks by itself. */
export function beckon(client: Client, { name, ticket }: Contender): void {
  client.txn({ compare: [stillStands(name, ticket!)], success: [touch(name)] }).catch(() => undefined);
}

export async function lineNow(client: Client, line: Buffer, ms?: number): Promise<Line> {
  const listed = await client.range(listing(line), ms);
  return read(listed.header!.revision, listed);
}
