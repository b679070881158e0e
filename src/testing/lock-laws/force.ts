import assert from 'node:assert/strict';
import type { QueueEntry } from '../../core/index.ts';
import { type Law, law } from '../law.ts';
import { meanwhile } from '../limited.ts';
import { toldOfLoss } from './leases.ts';

const reason = 'conformance';

/** A forced release is an explicit act. It tells the evicted holder, and fences it. */
export const force: readonly Law[] = [
  law(
    'a forced release lets the next in with a higher token, and the robbed holder is told',
    ['evict', 'inspect', 'fencing'],
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
  law(
    'a forced release evicts every reader, or the one with the token',
    ['evict', 'inspect', 'shared seats'],
    async (scene) => {
      const [here, there] = await scene.processes();
      for (const locks of [here, there, here]) await locks.rwLock(scene.key).read.acquire();
      const [one] = await scene.standings();
      assert.equal(await there.forceRelease(scene.key, { reason, token: one!.token }), 1, 'the one with the token');
      assert.equal((await scene.standings()).length, 2);
      assert.equal(await there.forceRelease(scene.key, { reason }), 2, 'all who were left');
      assert.equal(await there.forceRelease(scene.key, { reason }), 0, 'nobody was left');
      await scene.isFree();
    },
  ),
  law(
    'an evicted holder learns by whom and why, and a later holder does not',
    ['evict', 'inspect', 'notes'],
    async (scene) => {
      const here = await scene.locks({ ttl: scene.ttl * 2 });
      const there = await scene.locks({ label: 'night shift' });
      const why = `"it hangs\\u001b[m${'!'.repeat(183)}…" (by night shift)`;
      const toldAfter = async (evict: () => Promise<unknown>): Promise<string> => {
        const lease = await here.mutex(scene.key).acquire();
        const told = meanwhile(toldOfLoss(scene, lease));
        await evict();
        await told;
        return lease.signal.reason.message;
      };
      const force = () => there.forceRelease(scene.key, { reason: `it hangs\u001b[m${'!'.repeat(900)}` });
      let words = '';
      // It is advice: the holder does not wait for a note that is slow, as under the load of a test.
      for (let attempts = 0; attempts < 4 && !words.includes(why); attempts++) words = await toldAfter(force);
      assert.ok(words.includes(why), `the evicted holder was told: ${words}`);
      const evict = async () => scene.clients[1].evict!(scene.key, (await scene.standings())[0]!.token);
      assert.doesNotMatch(await toldAfter(evict), /by force/, 'what a later holder was told');
    },
  ),
  law(
    'a listing of one key by its name shows that key alone, and a forced release hits no other',
    ['evict', 'inspect'],
    async (scene) => {
      const [here, there] = await scene.processes();
      const names = [scene.key, `${scene.key}/more`, `${scene.key}0`];
      const leases = await Promise.all(names.map((name) => here.mutex(name).acquire()));
      const listed = async (name: string): Promise<string[]> => {
        const keys: string[] = [];
        for await (const { key } of there.inspect(name, { exact: true })) keys.push(key);
        return keys;
      };
      for (const name of names) assert.deepEqual(await listed(name), [name]);
      assert.deepEqual(await listed(scene.key.slice(0, -1)), [], 'a key that nobody holds');
      assert.equal(await there.forceRelease(scene.key, { reason }), 1);
      assert.deepEqual(await listed(scene.key), []);
      for (const lease of leases.slice(1)) assert.equal(await lease.release(), true, `${lease.key} was not meant`);
    },
  ),
  law('a listing shows holders and waiters of all processes', ['inspect', 'fair'], async (scene) => {
    const [here, there] = await scene.processes();
    const lease = await here.mutex(scene.key, { label: 'holder' }).acquire();
    const wait = meanwhile(there.mutex(scene.key, { label: 'waiter' }).run(() => {}));
    const seen = async (): Promise<string[]> => {
      const rows: string[] = [];
      for await (const { label, held } of there.inspect(scene.key)) rows.push(`${label} ${held ? 'holds' : 'waits'}`);
      return rows;
    };
    while ((await seen()).length < 2) await scene.pass(1);
    assert.deepEqual(await seen(), ['holder holds', 'waiter waits']);
    await lease.release();
    await wait;
    await scene.arrived();
    assert.deepEqual(await seen(), []);
  }),
  law('a listing shows whose a hold is, and which hold a waiter is inside of', ['inspect', 'fair'], async (scene) => {
    const [here, there] = await scene.processes();
    const other = `${scene.key} ~ other`;
    const lease = await there.mutex(scene.key).acquire();
    const nested = meanwhile(here.mutex(other).run(() => here.mutex(scene.key, { label: 'a ~ b' }).run(() => {})));
    const line = async (key: string): Promise<QueueEntry[]> => {
      const rows: QueueEntry[] = [];
      for await (const standing of there.inspect(key, { exact: true })) rows.push(standing);
      return rows;
    };
    while ((await line(scene.key)).length < 2) await scene.pass(1);
    const [[holder, waiter], [around]] = [await line(scene.key), await line(other)];
    assert.equal(waiter?.label, 'a ~ b');
    const { process, claim } = around?.origin ?? assert.fail('nobody is named as the holder around the waiter');
    assert.deepEqual([waiter?.origin?.process, waiter?.origin?.inside], [process, [{ claim, key: other }]]);
    assert.deepEqual(holder?.origin?.inside, [], 'of the holder, who is inside of nothing');
    await lease.release();
    await nested;
  }),
];
