import assert from 'node:assert/strict';
import { SHARED } from '../../../src/core/index.ts';
import { type Law, law, needing } from '../case.ts';
import { courses } from '../course.ts';
import type { Scene } from '../scene.ts';
import { proposing } from './tokens.ts';

const labels = async (scene: Scene): Promise<string[]> => (await scene.entries()).map(({ label }) => label);

/** All that a listing shows, as text. JSON has no bigint. */
export const shownBy = async (scene: Scene): Promise<string> =>
  JSON.stringify(await scene.entries(), (_, value) => (typeof value === 'bigint' ? `${value}` : value));

/** What an operator can see. */
const listing: readonly Law[] = [
  law(
    'inspect shows who holds and who waits, in the order of the line',
    ['fairness', 'shared units'],
    async (scene) => {
      const holders = [await scene.holder(SHARED), await scene.holder(SHARED)];
      const queue = [...holders, await scene.waiter(), await scene.waiter(SHARED)];
      const seen = await scene.entries();
      assert.deepEqual(
        seen.map(({ key, held, position, units, capacity, label }) => ({
          key,
          held,
          position,
          units,
          capacity,
          label,
        })),
        queue.map(({ claim: { key, units, capacity, label } }, position) => {
          return { key, held: position < holders.length, position, units, capacity, label };
        }),
      );
      for (const [position, { token }] of holders.entries()) assert.equal(seen[position]!.token, token);
      for (const { remaining, since = 0, label } of seen) {
        assert.ok(remaining > 0, `remaining ${remaining} of ${label}, which is alive`);
        assert.ok(since >= 0 && since < remaining + queue[0]!.claim.ttl, `since ${since} of ${label}, which just came`);
      }
    },
  ),
  law(
    'inspect keeps the order of the line where tokens become a digit longer',
    ['fairness', 'fencing'],
    async (scene) => {
      const [first, holder, waiter] = [await scene.holder(), scene.participant(), scene.participant()];
      await first.leaves();
      const nines = 10n ** BigInt(`${first.token}`.length) - 1n;
      // No engine has to count beyond MAX_SAFE_INTEGER. If the leap is too far or not supported, any two tokens will do.
      const leaps = nines <= Number.MAX_SAFE_INTEGER && (await proposing(holder, nines));
      if (!leaps) await holder.gets();
      await waiter.waits();
      assert.deepEqual(await labels(scene), [holder.claim.label, waiter.claim.label]);
    },
  ),
  law('inspect shows the holder with its token', async (scene) => {
    const holder = await scene.holder();
    const { token } = holder;
    const { label, units, capacity } = holder.claim;
    assert.deepEqual(
      (await scene.entries()).map(({ held, token, label, units, capacity }) => ({
        held,
        token,
        label,
        units,
        capacity,
      })),
      [{ held: true, token, label, units, capacity }],
    );
    await holder.leaves();
    assert.deepEqual(await scene.entries(), [], 'after the release');
  }),
  law(
    'inspect gives a label back as it is, of a holder and of a waiter: characters of all kinds, 896 bytes of them',
    ['fairness'],
    async (scene) => {
      const strange = ` ~%7E%,;=+!'"\\\n\t\0é漢🔒`;
      const label = strange + '漢'.repeat(128) + '~'.repeat(896 - 3 * 128 - Buffer.byteLength(strange));
      const other = `${label.slice(0, -1)}.`;
      await scene.holder({ label });
      await scene.waiter({ label: other });
      assert.deepEqual(await labels(scene), [label, other]);
    },
  ),
  law('inspect counts down to the expiry, and forgets what has expired', ['expiry'], async (scene) => {
    await scene.holder({ ttl: scene.ttl });
    const { remaining } = (await scene.entries())[0] ?? assert.fail('the holder is not shown');
    assert.ok(remaining > 0 && remaining <= scene.ttl + scene.tolerance, `remaining ${remaining} of ${scene.ttl}`);
    await scene.expired();
    assert.deepEqual(await scene.entries(), []);
  }),
  law('inspect never shows an id: a process that knows one may release', async (scene) => {
    const claims = [await scene.holder(), await scene.waiter()];
    const shown = await shownBy(scene);
    for (const { claim } of claims) assert.ok(!shown.includes(claim.id), `the id of ${claim.label} is shown`);
  }),
];

/** What an operator can end. */
const eviction: readonly Law[] = [
  law('a forced release frees the hold with that token, and no other', async (scene) => {
    const [holder, next] = [await scene.holder(), scene.participant()];
    const [, other] = scene.clients;
    const { token } = holder;
    assert.equal(await other.evict!(scene.key, token + 1_000_000n), false, 'nobody has that token');
    assert.equal(await other.evict!(`${scene.key}/other`, token), false, 'nobody holds that key');
    await next.waits();
    assert.equal(await other.evict!(scene.key, token), true, `${holder} has that token`);
    assert.equal(await other.evict!(scene.key, token), false, 'it is free already');
    await holder.isGone();
    await next.gets();
    await holder.hasNothing();
  }),
  ...courses(['shared units'], {
    'a forced release of one reader leaves the others in': `
      robbed reader gets, other reader gets, robbed reader is evicted,
      robbed reader is gone, other reader renews, passing claim waits`,
  }),
];

export const inspection: readonly Law[] = [...needing('inspect', listing), ...needing('evict', eviction)];
