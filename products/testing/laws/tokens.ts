import assert from 'node:assert/strict';
import { type Grant, isLockError, SHARED } from '../../../src/core/index.ts';
import { type Law, law, type Need, needing } from '../case.ts';
import type { Participant } from '../participant.ts';
import type { Scene } from '../scene.ts';

const BLOCK = 16;
const LEAP = 1_000_000n;

/** Every exclusive grant of a key has a higher token than all earlier ones: that is the fencing token. */
export const tokens: readonly Law[] = needing('fencing', [
  growing('tokens grow over a release, even of an idle key', [], (holder) => holder.leaves()),
  // Where expiries are observed, a client must see the hold before the wait, or it does not expire.
  growing('tokens grow over an expiry', ['expiry'], async (_, scene) => {
    for (const client of scene.clients) await scene.passing({}, client).waits();
    await scene.expired();
  }),
  growing('tokens grow over a forced release', ['evict'], async ({ client, claim, token }) =>
    assert.ok(await client.evict!(claim.key, token)),
  ),
  growing('tokens grow over claims that never held exclusively', ['shared units'], async (holder, scene) => {
    await holder.leaves();
    const reader = await scene.holder(SHARED);
    await reader.leaves();
  }),
  law('a tokenCount reserves its tokens: the next claim begins above them', ['token blocks'], async (scene) => {
    const wish = { tokenCount: BLOCK };
    const [spanning, second, third] = [scene.participant(wish), scene.participant(wish), scene.participant(wish)];
    const first = await spanning.gets();
    const again = await spanning.gets();
    assert.deepEqual(
      [again.token, endOf(again)],
      [first.token, endOf(first)],
      'an attempt again reserves nothing more',
    );
    await second.waits();
    await spanning.leaves();
    const next = await second.gets();
    above(next.token, endOf(first));
    await second.leaves();
    above((await third.gets()).token, endOf(next));
  }),
  law('a token is never below the one that was proposed', async (scene) => {
    const [first, second] = [await scene.holder(), scene.participant()];
    await first.leaves();
    const minToken = first.token + LEAP;
    const grant = await proposing(second, minToken);
    if (!grant) return;
    above(grant.token, minToken);
    await second.leaves();
    above((await scene.participant().gets()).token, minToken + 1n);
  }),
  law('an attempt again with a higher proposal raises the token of a hold to it, or changes nothing', async (scene) => {
    const holder = scene.passing({ tokenCount: BLOCK });
    const first = await holder.gets();
    const { token } = first;
    const minToken = token + LEAP;
    const grant = (await proposing(holder, minToken)) ?? first;
    const raised = grant.token;
    assert.ok(raised === token || raised === minToken, `${raised} is neither ${token} nor ${minToken}`);
    assert.equal((await holder.gets()).token, raised, 'a token is never lowered again');
    await holder.renews();
    await holder.leaves();
    const end = scene.clients[0].traits.tokenBlocks ? endOf(grant) : raised + 1n;
    above((await scene.passing().gets()).token, end);
  }),
]);

/** @returns undefined if the engine cannot do this: tokens that are revisions of the engine cannot leap */
export async function proposing(claimant: Participant, minToken: bigint): Promise<Grant | undefined> {
  try {
    return await claimant.gets({ ...claimant.claim, minToken });
  } catch (error) {
    if (isLockError(error, 'LOCK_UNSUPPORTED')) return undefined;
    throw error;
  }
}

function growing(name: string, needs: readonly Need[], end: (holder: Participant, scene: Scene) => Promise<void>): Law {
  return law(name, needs, async (scene) => {
    let last = -1n;
    for (let round = 0; round < 2; round++) {
      const holder = await scene.holder(needs.includes('expiry') ? { ttl: scene.ttl } : {});
      above(holder.token, last + 1n);
      last = holder.token;
      await end(holder, scene);
    }
  });
}

/** The first token above the tokens of a grant. */
const endOf = ({ token, tokenCount = BLOCK }: Grant): bigint => token + BigInt(tokenCount);

function above(token: bigint, least: bigint): void {
  assert.ok(token >= least, `token ${token} must be at least ${least}`);
}
