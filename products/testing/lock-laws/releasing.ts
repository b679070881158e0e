import assert from 'node:assert/strict';
import { around } from '../around.ts';
import { type Law, law } from '../case.ts';
import { meanwhile } from '../limited.ts';
import { fails, isTaken, leavingNothing, listening } from './outcomes.ts';

/** The end of a hold. */
export const releasing: readonly Law[] = leavingNothing([
  law('run gives its function’s own result or error, and releases in both cases', async (scene) => {
    const lock = (await scene.locks()).mutex(scene.key);
    const own = new Error('own');
    assert.equal(await lock.run(async () => 42), 42);
    await scene.isFree();
    const failing = lock.run(() => {
      throw own;
    });
    assert.equal(await failing.catch((error) => error), own);
  }),
  law('a lease in a using block is released at its end', async (scene) => {
    const locks = await scene.locks();
    {
      await using lease = await locks.mutex(scene.key).acquire();
      lease.assertHeld();
    }
  }),
  law('a second release is harmless, and frees nobody else', async (scene) => {
    const [here, there] = await scene.mutexes();
    const former = await here.acquire();
    assert.equal(await former.release(), true);
    const holder = await there.acquire();
    assert.equal(await former.release(), false);
    await isTaken(here, 'the next owner holds it');
    holder.assertHeld();
    assert.equal(await holder.release(), true);
  }),
  law(
    'a process that hands its hold from caller to caller lets others have their turn',
    ['fairness'],
    async (scene) => {
      const [here, there] = await scene.mutexes();
      let served = false;
      const serve = (): void => {
        served = true;
      };
      const busy = async (): Promise<void> => {
        while (!served) await here.run(() => scene.pass(1));
      };
      const callers = meanwhile(Promise.all([busy(), busy(), busy()]));
      await scene.soon(there.run(serve), 'a turn beside a busy process').finally(serve);
      await callers;
    },
  ),
  law(
    'a lock taken inside itself is entered again, with the same token, and ends with the outermost',
    async (scene) => {
      const [lock, there] = await scene.mutexes();
      await lock.run(async (outer) => {
        const inner = await lock.run(async (lease) => lease.token);
        assert.equal(inner, outer.token);
        const again = await lock.acquire();
        assert.equal(await again.release(), false, 'the outer call still holds');
        assert.equal(await again.release(), false, 'a second release counts for nobody else');
        outer.assertHeld();
        await isTaken(there, 'the outer call still holds');
      });
    },
  ),
  law(
    'a writer may read inside; a reader that would write inside is told of the deadlock',
    ['shared units'],
    async (scene) => {
      const { read, write } = (await scene.locks()).rwLock(scene.key);
      await write.run(() => read.run(() => {}));
      const reader = () => read.run(() => fails(() => write.acquire(), 'LOCK_DEADLOCK', 'a write inside a read'));
      await reader();
      await write.run(() => Promise.all([reader(), reader()]));
    },
  ),
  law('closing rejects who waits, frees what is held, and disturbs no other process', async (scene) => {
    const [here, there] = await scene.processes();
    const other = `${scene.key}/kept`;
    const kept = await there.mutex(other).acquire();
    await here.mutex(scene.key).acquire();
    const wait = meanwhile(fails(() => here.mutex(other).acquire(), 'LOCK_CLOSED', 'a wait'));
    await scene.pass(scene.tolerance / 10);
    await here.close();
    await scene.soon(wait, 'the waiter hears of it');
    await fails(() => here.mutex(scene.key).acquire(), 'LOCK_CLOSED', 'an acquire after close');
    kept.assertHeld();
    await scene.isFree();
    assert.equal(await kept.release(), true);
    await scene.isFree(other);
  }),
  law(
    'the end of one Locks takes nothing from others over the same backend, and the last one closes it',
    async (scene) => {
      const backend = await scene.another();
      let closed = 0;
      const counted = around(backend, {
        close: () => {
          closed++;
          return backend.close();
        },
      });
      const [first, second] = [await scene.locks({}, counted), await scene.locks({ ttl: scene.ttl }, counted)];
      const [mine, theirs] = [second.mutex(scene.key), (await scene.locks()).mutex(scene.key)];
      const taken = await first.mutex(`${scene.key}/first`).acquire();
      const held = await mine.acquire();
      const waiting = theirs.acquire();
      await first.close();
      assert.equal(closed, 0, 'the backend must stay open while others use it');
      assert.equal(taken.held, false, 'what the closed Locks held must be released');
      await scene.isFree(`${scene.key}/first`);
      await scene.expired(); // by now the hold is lost if its connection was closed, or if renewals failed
      held.assertHeld();
      await isTaken(theirs, 'the other Locks must hold the key still');
      assert.equal(await held.release(), true);
      await (await scene.soon(waiting, 'the turn of the other process')).release();
      await (await scene.soon(mine.acquire(), 'the next hold of the other Locks')).release();
      await second.close();
      assert.equal(closed, 1, 'the last one must close the backend');
    },
  ),
  law('all() holds every key, with a token for each that is exclusive', async (scene) => {
    const [here, there] = await scene.processes();
    const keys = ['/b', '/a', '/c'].map((name) => scene.key + name);
    const lease = await here.all(keys).acquire();
    assert.deepEqual([...lease.tokens.keys()].sort(), [...keys].sort());
    for (const key of keys) await isTaken(there.mutex(key), `${key} is part of it`);
    assert.equal(await lease.release(), true);
    for (const key of keys) await scene.isFree(key);
  }),
  law('all() that cannot have one key keeps none', async (scene) => {
    const keys = ['/a', '/b', '/c'].map((name) => scene.key + name);
    const { locks: here, code } = await listening(scene, keys[1]);
    const taken = await (await scene.locks()).mutex(keys[1]!).acquire();
    const all = here.all(keys);
    // Long enough for two answers. If the first answer came only after the wait, while `all` gives back its first key, `code` would be wrong.
    await fails(() => all.acquire({ wait: scene.tolerance * 4 }), code, 'a key is taken');
    await scene.isFree(keys[0]);
    await isTaken(all, 'one of them is taken');
    await scene.isFree(keys[0]);
    await scene.isFree(keys[2]);
    taken.assertHeld();
    await taken.release();
  }),
]);
