import type { Claim, Renewal } from '../../core/backend.ts';
import type { Clock } from '../../core/clock.ts';
import type { Client } from './client.ts';
import { type Contender, secondsOf } from './contender.ts';
import type { Leases } from './leases.ts';
import type { Moves } from './moves.ts';
import { look } from './ops.ts';

/**
 * Renews up to a transaction's worth of holds: their leases side by side, then one look at all their keys. The look is
 * what counts: a key that somebody deleted leaves its lease alive, and servers before 3.4.38 may say of a
 * lease that is being revoked that it lives.
 */
export async function renew(
  client: Client,
  leases: Leases,
  moves: Moves,
  holds: readonly (readonly [claim: Claim, me: Contender | undefined])[],
  clock: Clock,
  ms: number,
): Promise<Renewal[]> {
  const started = clock.now();
  const kept = await Promise.all(
    holds.map(([claim, me]) => (me ? keep(leases, moves, me, claim, ms) : Promise.resolve(false))),
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
  leases: Leases,
  moves: Moves,
  me: Contender,
  claim: Claim,
  ms: number,
): Promise<boolean | undefined> {
  try {
    const seconds = secondsOf(claim.ttl);
    if (me.lease.seconds === seconds && !me.adrift) return await leases.keepAlive(me.lease, ms);
    return (await moves.to(me, seconds, ms, true)) !== undefined;
  } catch {
    return undefined;
  }
}
