import assert from 'node:assert/strict';
import { isLockError, SHARED } from '../../core/index.ts';
import { type Law, law } from '../law.ts';

/** What an operator sees and can end. */
export const inspection: readonly Law[] = [
  law(
    'inspect shows who holds and who waits, in the order of the line',
    ['inspect', 'fair', 'shared seats'],
    async (scene) => {
      const line = [...scene.pair(SHARED), scene.contender(), scene.contender(SHARED)];
      const granted = [await line[0]!.gets(), await line[1]!.gets()];
      await line[2]!.waits();
      await line[3]!.waits();
      const seen = await scene.standings();
      assert.deepEqual(
        seen.map(({ key, held, position, units, capacity, label }) => ({
          key,
          held,
          position,
          units,
          capacity,
          label,
        })),
        line.map(({ claim: { key, units, capacity, label } }, position) => ({
          key,
          held: position < granted.length,
          position,
          units,
          capacity,
          label,
        })),
      );
      for (const [position, { token }] of granted.entries()) assert.equal(seen[position]!.token, token);
      for (const { remaining, since = 0, label } of seen) {
        assert.ok(remaining > 0, `remaining ${remaining} of ${label}, which is alive`);
        assert.ok(since >= 0 && since < remaining + line[0]!.claim.ttl, `since ${since} of ${label}, which just came`);
      }
    },
  ),
  law(
    'inspect keeps the order of the line where tokens become a digit longer',
    ['inspect', 'fair', 'fencing'],
    async (scene) => {
      const [first, holder, waiter] = [...scene.pair(), scene.contender()];
      const { token } = await first.gets();
      await first.leaves();
      const nines = 10n ** BigInt(`${token}`.length) - 1n;
      // An engine has to count no further than this. There, and where tokens cannot leap, any two tokens do.
      const leap = nines > Number.MAX_SAFE_INTEGER ? {} : { minToken: nines };
      await holder.gets({ ...holder.claim, ...leap }).catch((error) => {
        if (!isLockError(error, 'LOCK_UNSUPPORTED')) throw error;
        return holder.gets();
      });
      await waiter.waits();
      const seen = (await scene.standings()).map(({ label }) => label);
      assert.deepEqual(seen, [holder.claim.label, waiter.claim.label]);
    },
  ),
  law('inspect shows the holder with its token', ['inspect'], async (scene) => {
    const holder = scene.contender();
    const { token } = await holder.gets();
    const seen = await scene.standings();
    const { label, units, capacity } = holder.claim;
    assert.deepEqual(
      seen.map(({ held, token, label, units, capacity }) => ({ held, token, label, units, capacity })),
      [{ held: true, token, label, units, capacity }],
    );
    await holder.leaves();
    assert.deepEqual(await scene.standings(), [], 'after the release');
  }),
  law(
    'inspect gives a label back as it is, of a holder and of a waiter: characters of all kinds, 896 bytes of them',
    ['inspect', 'fair'],
    async (scene) => {
      const strange = ` ~%7E%,;=+!'"\\\n\t\0é漢🔒`;
      const label = strange + '漢'.repeat(128) + '~'.repeat(896 - 3 * 128 - Buffer.byteLength(strange));
      const [holder, waiter] = [scene.contender({ label }), scene.contender({ label: `${label.slice(0, -1)}.` })];
      await holder.gets();
      await waiter.waits();
      const seen = (await scene.standings()).map(({ label }) => label);
      assert.deepEqual(seen, [holder.claim.label, waiter.claim.label]);
    },
  ),
  law('inspect counts down to the expiry, and forgets what has expired', ['inspect', 'expires'], async (scene) => {
    await scene.contender({ ttl: scene.ttl }).gets();
    const { remaining } = (await scene.standings())[0] ?? assert.fail('the holder is not shown');
    assert.ok(remaining > 0 && remaining <= scene.ttl + scene.tolerance, `remaining ${remaining} of ${scene.ttl}`);
    await scene.expired();
    assert.deepEqual(await scene.standings(), []);
  }),
  law('inspect never shows an id: a process that knows one may release', ['inspect'], async (scene) => {
    const [holder, waiter] = scene.pair();
    await holder.gets();
    await waiter.waits();
    const shown = JSON.stringify(await scene.standings(), (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    );
    for (const { claim } of [holder, waiter]) assert.ok(!shown.includes(claim.id), `the id of ${claim.label} is shown`);
  }),
  law('a forced release frees the hold with that token, and no other', ['evict'], async (scene) => {
    const [holder, next] = scene.pair();
    const [, other] = scene.clients;
    const { token } = await holder.gets();
    assert.equal(await other.evict!(scene.key, token + 1_000_000n), false, 'nobody has that token');
    assert.equal(await other.evict!(`${scene.key}/other`, token), false, 'nobody holds that key');
    await next.waits();
    assert.equal(await other.evict!(scene.key, token), true, `${holder} has that token`);
    assert.equal(await other.evict!(scene.key, token), false, 'it is free already');
    await holder.isGone();
    await next.gets();
    await holder.hasNothing();
  }),
  law('a forced release of one reader leaves the others in', ['evict', 'shared seats'], async (scene) => {
    const [robbed, other] = scene.pair(SHARED);
    const { token } = await robbed.gets();
    await other.gets();
    assert.equal(await scene.clients[1].evict!(scene.key, token), true);
    await robbed.isGone();
    await other.renews();
    await scene.contender({ queue: false }).waits();
  }),
];
