import type { Claim, Renewal } from '../../core/contract/backend.ts';
import type { LockError } from '../../core/contract/errors.ts';
import { type Contender, secondsOf } from './contender.ts';
import type { Moves } from './moves.ts';
import type { Client } from './wire/client.ts';
import { isStatus, STATUS } from './wire/grpc.ts';
import type { KeyValue } from './wire/messages.ts';
import { get } from './wire/ops.ts';
import type { IncomingMessage } from './wire/protobuf.ts';

/**
 * Renews the holds of one transaction: all their leases at once, then one look at all their keys. Only the look proves a hold: a key
 * that somebody deleted leaves its lease alive, and servers before 3.4.38 may call a lease alive that is being revoked.
 * After the election of a leader all keys move to leases that it has granted: see `isSettled`.
 * @param sent the deadlines of the holds count from then
 * @throws what went wrong, if nothing is known of any hold
 */
export async function renew(
  client: Client,
  moves: Moves,
  holds: readonly (readonly [claim: Claim, me: Contender | undefined])[],
  sent: number,
  ms: number,
): Promise<Renewal[]> {
  const kept = await Promise.all(
    holds.map(([{ ttl }, me]) => me && moves.keep(me, secondsOf(ttl), ms).catch(() => undefined)),
  );
  const looks = holds.map(([, me]) => me).filter((me) => me !== undefined);
  if (looks.length === 0) return holds.map(() => 'gone');
  const seen = await lookAt(client, looks, ms).catch((error: unknown) => {
    if (!kept.includes(false)) throw error;
    return undefined;
  });
  const isElected = holds.some(([, me], index) => kept[index] && me!.lease.term < client.term);
  if (isElected) return renew(client, moves, holds, sent, ms);
  return holds.map(([, me], index) => {
    if (!me || kept[index] === false) return 'gone';
    if (!seen || kept[index] === undefined) return 'unknown';
    const found = seen[looks.indexOf(me)];
    if (!found || found.createRevision !== me.token) return 'gone';
    if (found.lease !== me.lease.id) me.key = 'moving';
    if (me.key === 'moving') return 'unknown';
    const why = kept[index];
    return { validFor: me.lease.goodUntil - sent, ...(why !== true && { kept: why }) };
  });
}

/** Their keys as they are now. Asks in halves where the server takes fewer operations at a time (`--max-txn-ops`). */
async function lookAt(
  client: Client,
  looks: readonly Contender[],
  ms: number,
): Promise<(IncomingMessage<typeof KeyValue> | undefined)[]> {
  try {
    const { responses } = await client.txn({ success: looks.map(({ name }) => get(name)) }, ms);
    return responses.map(({ range }) => range!.kvs[0]);
  } catch (error) {
    if (looks.length === 1 || !isStatus((error as LockError).cause, STATUS.invalidArgument)) throw error;
    const half = looks.length >> 1;
    const halves = [looks.slice(0, half), looks.slice(half)];
    return (await Promise.all(halves.map((some) => lookAt(client, some, ms)))).flat();
  }
}
