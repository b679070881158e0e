import assert from 'node:assert/strict';
import { type Grant, isLockError, SHARED } from '../../core/index.ts';
import type { Contender } from '../contender.ts';
import { type Law, law } from '../law.ts';
import type { Scene } from '../scene.ts';

const SPAN = 16;
const LEAP = 1_000_000n;

/** Every exclusive grant of a key has a higher token than all earlier ones: that is the fencing token. */
export const tokens: readonly Law[] = [
  law('tokens grow over a release, even of an idle key', ['fencing'], (scene) =>
    growsOver(scene, (holder) => holder.leaves()),
  ),
  law('tokens grow over an expiry', ['fencing', 'expires'], (scene) =>
    growsOver(scene, () => watchedExpiry(scene), scene.ttl),
  ),
  law('tokens grow over a forced release', ['fencing', 'evict'], (scene) =>
    growsOver(scene, async ({ client, claim }, token) => assert.ok(await client.evict!(claim.key, token))),
  ),
  law('tokens grow over claims that never held exclusively', ['fencing', 'shared seats'], (scene) =>
    growsOver(scene, async (holder) => {
      await holder.leaves();
      const reader = scene.contender(SHARED);
      await reader.gets();
      await reader.leaves();
    }),
  ),
  law(
    'a tokenCount reserves its tokens: the next claim begins above them',
    ['fencing', 'tokenBlocks'],
    async (scene) => {
      const spanning = scene.contender({ tokenCount: SPAN });
      const [second, third] = scene.pair({ tokenCount: SPAN });
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
    },
  ),
  law('a token is never below the one that was proposed', ['fencing'], async (scene) => {
    const [first, second] = scene.pair();
    const { token } = await first.gets();
    await first.leaves();
    const proposed = token + LEAP;
    try {
      above((await second.gets({ ...second.claim, minToken: proposed })).token, proposed);
    } catch (error) {
      // An engine whose tokens are its own revisions cannot leap, so it may refuse for good.
      if (isLockError(error, 'LOCK_UNSUPPORTED')) return;
      throw error;
    }
    await second.leaves();
    above((await scene.contender().gets()).token, proposed + 1n);
  }),
  law(
    'an attempt again with a higher proposal raises the token of a hold to it, or changes nothing',
    ['fencing'],
    async (scene) => {
      const holder = scene.contender({ queue: false, tokenCount: SPAN });
      const first = await holder.gets();
      const { token } = first;
      const minToken = token + LEAP;
      let grant = first;
      try {
        grant = await holder.gets({ ...holder.claim, minToken });
      } catch (error) {
        if (!isLockError(error, 'LOCK_UNSUPPORTED')) throw error;
      }
      const raised = grant.token;
      assert.ok(raised === token || raised === minToken, `${raised} is neither ${token} nor ${minToken}`);
      assert.equal((await holder.gets()).token, raised, 'a token is never lowered again');
      await holder.renews();
      await holder.leaves();
      const end = scene.clients[0].traits.tokenBlocks ? endOf(grant) : raised + 1n;
      above((await scene.contender({ queue: false }).gets()).token, end);
    },
  ),
];

/** Where expires are observed, the next holder has looked before. */
async function watchedExpiry(scene: Scene): Promise<void> {
  for (const client of scene.clients) await scene.contender({ queue: false }, client).waits();
  await scene.expired();
}

async function growsOver(
  scene: Scene,
  end: (holder: Contender, token: bigint) => Promise<void>,
  ttl?: number,
): Promise<void> {
  let last = -1n;
  for (let round = 0; round < 2; round++) {
    const holder = scene.contender(ttl === undefined ? {} : { ttl });
    const { token } = await holder.gets();
    above(token, last + 1n);
    last = token;
    await end(holder, token);
  }
}

/** The first token after those of this grant. */
const endOf = ({ token, tokenCount = SPAN }: Grant): bigint => token + BigInt(tokenCount);

function above(token: bigint, least: bigint): void {
  assert.ok(token >= least, `token ${token} must be at least ${least}`);
}
