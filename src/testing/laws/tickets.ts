import assert from 'node:assert/strict';
import { SHARED } from '../../core/contract/admission.ts';
import type { Grant } from '../../core/contract/backend.ts';
import { isLockError } from '../../core/contract/errors.ts';
import type { Contender } from '../contender.ts';
import { type Law, law } from '../law.ts';
import type { Scene } from '../scene.ts';

const SPAN = 16;
const LEAP = 1_000_000n;

/** Every exclusive grant of a key has a higher ticket than all earlier ones: that is the fencing token. */
export const tickets: readonly Law[] = [
  law('tickets grow over a release, even of an idle key', ['fencing'], (scene) =>
    growsOver(scene, (holder) => holder.leaves()),
  ),
  law('tickets grow over a lapse', ['fencing', 'lapses'], (scene) =>
    growsOver(scene, () => watchedLapse(scene), scene.ttl),
  ),
  law('tickets grow over a forced release', ['fencing', 'evict'], (scene) =>
    growsOver(scene, async ({ client, claim }, ticket) => assert.ok(await client.evict!(claim.key, ticket))),
  ),
  law('tickets grow over claims that never held exclusively', ['fencing', 'shared seats'], (scene) =>
    growsOver(scene, async (holder) => {
      await holder.leaves();
      const reader = scene.contender(SHARED);
      await reader.gets();
      await reader.leaves();
    }),
  ),
  law('a span reserves its tickets: the next claim begins above them', ['fencing', 'spans'], async (scene) => {
    const spanning = scene.contender({ span: SPAN });
    const [second, third] = scene.pair({ span: SPAN });
    const first = await spanning.gets();
    const again = await spanning.gets();
    assert.deepEqual(
      [again.ticket, endOf(again)],
      [first.ticket, endOf(first)],
      'an attempt again reserves nothing more',
    );
    await second.waits();
    await spanning.leaves();
    const next = await second.gets();
    above(next.ticket, endOf(first));
    await second.leaves();
    above((await third.gets()).ticket, endOf(next));
  }),
  law('a ticket is never below the one that was proposed', ['fencing'], async (scene) => {
    const [first, second] = scene.pair();
    const { ticket } = await first.gets();
    await first.leaves();
    const proposed = ticket + LEAP;
    try {
      above((await second.gets({ ...second.claim, atLeast: proposed })).ticket, proposed);
    } catch (error) {
      // An engine whose tickets are its own revisions cannot leap, so it may refuse for good.
      if (isLockError(error, 'LOCK_UNSUPPORTED')) return;
      throw error;
    }
    await second.leaves();
    above((await scene.contender().gets()).ticket, proposed + 1n);
  }),
  law(
    'an attempt again with a higher proposal raises the ticket of a hold to it, or changes nothing',
    ['fencing'],
    async (scene) => {
      const holder = scene.contender({ queue: false, span: SPAN });
      const first = await holder.gets();
      const { ticket } = first;
      const atLeast = ticket + LEAP;
      let grant = first;
      try {
        grant = await holder.gets({ ...holder.claim, atLeast });
      } catch (error) {
        if (!isLockError(error, 'LOCK_UNSUPPORTED')) throw error;
      }
      const raised = grant.ticket;
      assert.ok(raised === ticket || raised === atLeast, `${raised} is neither ${ticket} nor ${atLeast}`);
      assert.equal((await holder.gets()).ticket, raised, 'a ticket is never lowered again');
      await holder.renews();
      await holder.leaves();
      const end = scene.clients[0].traits.spans ? endOf(grant) : raised + 1n;
      above((await scene.contender({ queue: false }).gets()).ticket, end);
    },
  ),
];

/** Where lapses are observed, the next holder has looked before. */
async function watchedLapse(scene: Scene): Promise<void> {
  for (const client of scene.clients) await scene.contender({ queue: false }, client).waits();
  await scene.lapsed();
}

async function growsOver(
  scene: Scene,
  end: (holder: Contender, ticket: bigint) => Promise<void>,
  ttl?: number,
): Promise<void> {
  let last = -1n;
  for (let round = 0; round < 2; round++) {
    const holder = scene.contender(ttl === undefined ? {} : { ttl });
    const { ticket } = await holder.gets();
    above(ticket, last + 1n);
    last = ticket;
    await end(holder, ticket);
  }
}

/** The first ticket after those of this grant. */
const endOf = ({ ticket, span = SPAN }: Grant): bigint => ticket + BigInt(span);

function above(ticket: bigint, least: bigint): void {
  assert.ok(ticket >= least, `ticket ${ticket} must be at least ${least}`);
}
