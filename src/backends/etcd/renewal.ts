import type { Claim, Renewal } from '../../core/backend.ts';
import type { Clock } from '../../core/clock.ts';
import type { Client } from './client.ts';
import { type Contender, secondsOf } from './contender.ts';
import type { Leases } from './leases.ts';
import { type Line, readFrom } from './line.ts';
import type { TxnResponse } from './messages.ts';
import { isUnder, list, look, shift, stillStands } from './ops.ts';
import type { Received } from './protobuf.ts';

/**
 * Puts a contender's key under a lease of so many seconds: the place of a waiter under a short one, a hold whose ttl
 * changed under a longer. Gives the line, or undefined if the key is gone.
 */
export async function move(
  client: Client,
  leases: Leases,
  me: Contender,
  seconds: number,
  ms?: number,
  whole?: boolean,
): Promise<Line | undefined> {
  const ticket = me.ticket!;
  // Until the answer says so, the key may be under either: whoever looks has to move it again.
  me.adrift = true;
  let target = await leases.take(seconds, ms, whole);
  const from = (under: bigint): Promise<Received<typeof TxnResponse>> =>
    leases.use(target, ms, (lease) => {
      target = lease;
      // Only from the lease it is known to be under: a move whose answer was lost may still come, and must not undo this one.
      const compare = [stillStands(me.name, ticket), isUnder(me.name, under)];
      const success = [shift(me.name, lease.id), list(me.line)];
      return client.txn({ compare, success, failure: [look(me.name)] }, ms);
    });
  let answer = await from(me.lease.id);
  while (!answer.succeeded && !me.over) {
    const [found] = answer.responses[0]!.range!.kvs;
    if (found?.createRevision !== ticket) break;
    answer = await from(found.lease); // where such a move has put it
  }
  // Given up meanwhile: its lease was given back then, and what this put under the other one has to go.
  if (me.over) target.tainted = true;
  leases.giveBack(answer.succeeded && !me.over ? me.lease : target);
  if (!answer.succeeded || me.over) return undefined;
  me.lease = target;
  me.adrift = false;
  return readFrom(answer, 1);
}

/**
 * Renews up to a transaction's worth of holds: their leases side by side, then one look at all their keys. The look is
 * what counts: a key that somebody deleted leaves its lease alive, and servers before 3.4.38 may say of a
 * lease that is being revoked that it lives.
 */
export async function renew(
  client: Client,
  leases: Leases,
  holds: readonly (readonly [claim: Claim, me: Contender | undefined])[],
  clock: Clock,
  ms: number,
): Promise<Renewal[]> {
  const started = clock.now();
  const kept = await Promise.all(
    holds.map(([claim, me]) => (me ? keep(client, leases, me, claim, ms) : Promise.resolve(false))),
  );
  const looks = holds.map(([, me]) => me).filter((me) => me !== undefined);
  if (looks.length === 0) return holds.map(() => 'gone');
  const seen = await client.txn({ success: looks.map(({ name }) => look(name)) }, ms).catch(() => undefined);
  return holds.map(([, me], index) => {
    if (!me || kept[index] === false) return 'gone';
    const answer = seen?.responses[looks.indexOf(me)]?.range;
    if (!answer || kept[index] === undefined) return 'unknown';
    const found = answer.kvs[0];
    if (!found || found.createRevision !== me.ticket) return 'gone';
    me.adrift ||= found.lease !== me.lease.id;
    return me.adrift ? 'unknown' : { validFor: me.lease.goodUntil - started };
  });
}

/** Whether the hold was still there; undefined if that cannot be told. */
async function keep(
  client: Client,
  leases: Leases,
  me: Contender,
  claim: Claim,
  ms: number,
): Promise<boolean | undefined> {
  try {
    const seconds = secondsOf(claim.ttl);
    if (me.lease.seconds === seconds && !me.adrift) return await leases.keepAlive(me.lease, ms);
    return (await move(client, leases, me, seconds, ms, true)) !== undefined;
  } catch {
    return undefined;
  }
}
