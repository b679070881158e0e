import { type Claim, leastOf, PLACE_TTL_MS, type Renewal, withLimit } from '../../core/index.ts';
import { parts } from './command-batcher.ts';
import type { KeyedServer } from './server.ts';
import { readRenewal } from './wire.ts';

/** The most holds that one command renews. The script renews only some holds in queues; the rest are sent again. */
const MAX_BATCH = 250;

/**
 * Renews holds in batches, in a Cluster one slot per batch, so that a node that hangs does not delay the holds of other nodes.
 * @param ask renews a batch, and gives a reply for each hold
 */
export async function renewals(
  claims: readonly Claim[],
  { port, clock, groupOf }: KeyedServer,
  ask: (batch: readonly Claim[]) => Promise<unknown[]>,
): Promise<Renewal[]> {
  const found = new Map<Claim, Renewal>();
  const ttls = claims.map(({ ttl }) => ttl);
  // The time that a node of a Cluster may take for a batch, ms: a quarter of the shortest ttl. Core gives all batches together a third of that ttl.
  const timeout = leastOf(ttls, PLACE_TTL_MS) / 4;
  const renew = async (batch: readonly Claim[]): Promise<void> => {
    const answers = ask(batch);
    const limited = port.cluster ? withLimit(answers, timeout, () => new Error('silent'), clock) : answers;
    const replies = await limited.catch(() => []); // only the holds of a failed batch stay unknown
    const rest: Claim[] = [];
    for (const [i, claim] of batch.entries()) {
      const renewal = readRenewal(replies[i], claim.ttl);
      if (renewal) found.set(claim, renewal);
      else rest.push(claim);
    }
    if (rest.length > 0) await renew(rest);
  };
  await Promise.all(parts([...claims], MAX_BATCH, groupOf).map(renew));
  return claims.map((claim) => found.get(claim)!);
}
