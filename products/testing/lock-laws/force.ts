import assert from 'node:assert/strict';
import { listOf } from '../../../src/core/index.ts';
import { type Law, law, needing } from '../case.ts';
import { meanwhile } from '../limited.ts';
import { arrived, toldOfLoss } from './outcomes.ts';

const reason = 'conformance';
/** After a hold of this time, ms, a process listens for an eviction. */
const AGE_MS = 1_500;

/** A forced release is an explicit act. The evicted holder is notified, and the next token is higher. */
const evicting: readonly Law[] = [
  law(
    'a forced release lets the next in with a higher token, and the robbed holder is told',
    ['fencing'],
    async (scene) => {
      const [here, there] = await scene.processes({ ttl: scene.ttl * 2 });
      const robbed = await here.mutex(scene.key).acquire();
      const wait = meanwhile(there.mutex(scene.key).acquire());
      const told = meanwhile(toldOfLoss(scene, robbed));
      await scene.pass(scene.tolerance / 10);
      assert.equal(await there.forceRelease(scene.key, { reason }), 1, 'one held it');
      const next = await scene.soon(wait, 'the waiter, who was not evicted');
      assert.ok(next.token > robbed.token, `token ${next.token} came after ${robbed.token}`);
      await told;
      assert.equal(robbed.held, false, 'the robbed holder');
      assert.equal(await robbed.release(), false, 'a release by the robbed holder');
      next.assertHeld();
      assert.equal(await next.release(), true);
    },
  ),
  law('a forced release evicts every reader, or the one with the token', ['shared units'], async (scene) => {
    const [here, there] = await scene.processes();
    for (const locks of [here, there, here]) await locks.rwLock(scene.key).read.acquire();
    const [one] = await scene.entries();
    assert.equal(await there.forceRelease(scene.key, { reason, token: one!.token }), 1, 'the one with the token');
    assert.equal((await scene.entries()).length, 2);
    assert.equal(await there.forceRelease(scene.key, { reason }), 2, 'all who were left');
    assert.equal(await there.forceRelease(scene.key, { reason }), 0, 'nobody was left');
    await scene.isFree();
  }),
  law(
    'an evicted holder is told long before its next renewal, and by whom and why where there are hints',
    ['hold watch'],
    async (scene) => {
      // The next renewal is due after a third of this ttl, which is more than `patience`: only a notification is in time.
      const ttl = Math.min(scene.patience * 8, scene.clients[0].traits.ttl.max);
      const [here, there] = await scene.processes({ ttl, label: 'night shift' });
      const words: string[] = [];
      // The first hold is evicted just after its grant, the others when the process has had time to listen.
      for (const age of [0, AGE_MS, AGE_MS]) {
        const lease = await here.mutex(scene.key).acquire();
        await scene.pass(age);
        const told = meanwhile(toldOfLoss(scene, lease));
        assert.equal(await there.forceRelease(scene.key, { reason }), 1, 'one held it');
        await told;
        words.push(lease.signal.reason.message);
      }
      // The reason is only a hint. The holder does not wait for it, so on a busy machine it may come too late.
      const why = `"${reason}" (by night shift)`;
      const isToldWhy = words.some((message) => message.includes(why));
      assert.ok(isToldWhy || !scene.clients[0].hints, `the evicted holder was told: ${words}`);
    },
  ),
  law('an evicted holder learns by whom and why, and a later holder does not', ['hints'], async (scene) => {
    const here = (await scene.locks({ ttl: scene.ttl * 2 })).mutex(scene.key);
    const there = await scene.locks({ label: 'night shift' });
    const why = `"it hangs\\u001b[m${'!'.repeat(183)}…" (by night shift)`;
    const toldAfter = async (evict: () => Promise<unknown>): Promise<string> => {
      const lease = await here.acquire();
      const told = meanwhile(toldOfLoss(scene, lease));
      await evict();
      await told;
      return lease.signal.reason.message;
    };
    const force = () => there.forceRelease(scene.key, { reason: `it hangs\u001b[m${'!'.repeat(900)}` });
    let words = '';
    // The reason is only a hint. The holder does not wait for it, so on a busy machine it may come too late.
    for (let attempts = 0; attempts < 4 && !words.includes(why); attempts++) words = await toldAfter(force);
    assert.ok(words.includes(why), `the evicted holder was told: ${words}`);
    const evict = async () => scene.clients[1].evict!(scene.key, (await scene.entries())[0]!.token);
    assert.doesNotMatch(await toldAfter(evict), /by force/, 'what a later holder was told');
  }),
  law('a listing of one key by its name shows that key alone, and a forced release hits no other', async (scene) => {
    const [here, there] = await scene.processes();
    const names = [scene.key, `${scene.key}/more`, `${scene.key}0`];
    const leases = await Promise.all(names.map((name) => here.mutex(name).acquire()));
    const listed = async (name: string): Promise<string[]> =>
      (await listOf(there.inspect(name, { exact: true }))).map(({ key }) => key);
    for (const name of names) assert.deepEqual(await listed(name), [name]);
    assert.deepEqual(await listed(scene.key.slice(0, -1)), [], 'a key that nobody holds');
    assert.equal(await there.forceRelease(scene.key, { reason }), 1);
    assert.deepEqual(await listed(scene.key), []);
    for (const lease of leases.slice(1)) assert.equal(await lease.release(), true, `${lease.key} was not meant`);
  }),
];

/** What a listing shows of the callers of locks. */
const listing: readonly Law[] = [
  law('a listing shows holders and waiters of all processes', async (scene) => {
    const [here, there] = await scene.processes();
    const lease = await here.mutex(scene.key, { label: 'holder' }).acquire();
    const wait = meanwhile(there.mutex(scene.key, { label: 'waiter' }).run(() => {}));
    const seen = async (): Promise<string[]> =>
      (await listOf(there.inspect(scene.key))).map(({ label, held }) => `${label} ${held ? 'holds' : 'waits'}`);
    while ((await seen()).length < 2) await scene.pass(1);
    assert.deepEqual(await seen(), ['holder holds', 'waiter waits']);
    await lease.release();
    await wait;
    await arrived(scene);
    assert.deepEqual(await seen(), []);
  }),
  law('a listing shows whose a hold is, and which hold a waiter is inside of', async (scene) => {
    const [here, there] = await scene.processes();
    const other = `${scene.key} ~ other`;
    const lease = await there.mutex(scene.key).acquire();
    const nested = meanwhile(here.mutex(other).run(() => here.mutex(scene.key, { label: 'a ~ b' }).run(() => {})));
    const queueOf = (key: string) => listOf(there.inspect(key, { exact: true }));
    while ((await queueOf(scene.key)).length < 2) await scene.pass(1);
    const [[holder, waiter], [around]] = [await queueOf(scene.key), await queueOf(other)];
    assert.equal(waiter?.label, 'a ~ b');
    const { process, claim } = around?.origin ?? assert.fail('nobody is named as the holder around the waiter');
    assert.deepEqual([waiter?.origin?.process, waiter?.origin?.inside], [process, [{ claim, key: other }]]);
    assert.deepEqual(holder?.origin?.inside, [], 'of the holder, who is inside of nothing');
    await lease.release();
    await nested;
  }),
];

export const force: readonly Law[] = [
  ...needing('evict', needing('inspect', evicting)),
  ...needing('inspect', needing('fairness', listing)),
];
