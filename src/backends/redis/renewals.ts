import { type Claim, leastOf, PLACE_TTL_MS, type Renewal } from '../../core/index.ts';
import { parts } from './command-batcher.ts';
import { RENEW } from './scripts.generated.ts';
import type { Shards } from './shards.ts';
import { readRenewal, renewArgs } from './wire.ts';

/** The most holds that one command renews. The script skips those for which there is no time left. */
const BATCH = 250;

/** Gives the time that a node may take for a batch, ms: less than core gives all of them, which is a third of what they were good for. */
const timeoutOf = (claims: readonly Claim[]): number =>
  leastOf(
    claims.map(({ ttl }) => ttl),
    PLACE_TTL_MS,
  ) / 4;

/**
 * Renews holds. Those that one server has are renewed together.
 * @param servers the shards, or the servers that wait for replicas, too
 */
export async function renewals(
  claims: readonly Claim[],
  shards: Shards,
  servers: Pick<Shards, 'ask'>,
): Promise<Renewal[]> {
  const found = new Map<Claim, Renewal>();
  const renew = async (batch: readonly Claim[]): Promise<void> => {
    const requests = batch.map((claim) => ({ key: claim.key, args: renewArgs(claim, shards.remember) }));
    // A batch that fails leaves its own holds unknown, not the others.
    const replies = await shards.within(timeoutOf(claims), servers.ask(RENEW, requests)).catch(() => []);
    const left: Claim[] = [];
    for (const [i, claim] of batch.entries()) {
      const renewal = readRenewal(replies[i], claim.ttl);
      if (renewal) found.set(claim, renewal);
      else left.push(claim);
    }
    if (left.length > 0) await renew(left);
  };
  await Promise.all(parts([...claims], BATCH, shards.groupOf).map(renew));
  return claims.map((claim) => found.get(claim)!);
}
