import assert from 'node:assert/strict';
import { type Law, law } from '../law.ts';
import { meanwhile } from '../limited.ts';
import { fails } from './fails.ts';

/** The end of a hold. */
export const releasing: readonly Law[] = [
  law('run gives its function’s own result or error, and releases in both cases', async (scene) => {
    const locks = await scene.locks();
    const own = new Error('own');
    assert.equal(await locks.mutex(scene.key).run(async () => 42), 42);
    await scene.isFree();
    const failing = locks.mutex(scene.key).run(() => {
      throw own;
    });
    assert.equal(await failing.catch((error) => error), own);
    await scene.isFree();
  }),
  law('a lease in a using block is released at its end', async (scene) => {
    const locks = await scene.locks();
    {
      await using lease = await locks.mutex(scene.key).acquire();
      lease.assertHeld();
    }
    await scene.isFree();
  }),
  law('a second release is harmless, and frees nobody else', async (scene) => {
    const [here, there] = await scene.processes();
    const former = await here.mutex(scene.key).acquire();
    assert.equal(await former.release(), true);
    const holder = await there.mutex(scene.key).acquire();
    assert.equal(await former.release(), false);
    assert.equal(await here.mutex(scene.key).tryAcquire(), null, 'the next owner holds it');
    holder.assertHeld();
    assert.equal(await holder.release(), true);
    await scene.isFree();
  }),
  law('a process that hands its hold from caller to caller lets others have their turn', ['fair'], async (scene) => {
    const [here, there] = await scene.processes();
    let served = false;
    const busy = async (): Promise<void> => {
      while (!served) await here.mutex(scene.key).run(() => scene.pass(1));
    };
    const callers = meanwhile(Promise.all([busy(), busy(), busy()]));
    const turn = there.mutex(scene.key).run(() => {
      served = true;
    });
    await scene.soon(turn, 'a turn beside a busy process').finally(() => {
      served = true;
    });
    await callers;
    await scene.isFree();
  }),
  law(
    'a lock taken inside itself is entered again, with the same token, and ends with the outermost',
    async (scene) => {
      const [here, there] = await scene.processes();
      const lock = here.mutex(scene.key);
      await lock.run(async (outer) => {
        const inner = await lock.run(async (lease) => lease.token);
        assert.equal(inner, outer.token);
        const again = await lock.acquire();
        assert.equal(await again.release(), false, 'the outer call still holds');
        assert.equal(await again.release(), false, 'a second release counts for nobody else');
        outer.assertHeld();
        assert.equal(await there.mutex(scene.key).tryAcquire(), null, 'the outer call still holds');
      });
      await scene.isFree();
    },
  ),
  law(
    'a writer may read inside; a reader that would write inside is told of the deadlock',
    ['shared seats'],
    async (scene) => {
      const { read, write } = (await scene.locks()).rwLock(scene.key);
      await write.run(() => read.run(() => {}));
      await read.run(() => fails(() => write.acquire(), 'LOCK_DEADLOCK', 'a write inside a read'));
      await scene.isFree();
    },
  ),
  law('closing rejects who waits, frees what is held, and disturbs no other process', async (scene) => {
    const [here, there] = await scene.processes();
    const kept = await there.mutex(`${scene.key}/kept`).acquire();
    await here.mutex(scene.key).acquire();
    const wait = meanwhile(fails(() => here.mutex(`${scene.key}/kept`).acquire(), 'LOCK_CLOSED', 'a wait'));
    await scene.pass(scene.tolerance / 10);
    await here.close();
    await scene.soon(wait, 'the waiter hears of it');
    await fails(() => here.mutex(scene.key).acquire(), 'LOCK_CLOSED', 'an acquire after close');
    kept.assertHeld();
    await scene.isFree();
    assert.equal(await kept.release(), true);
    await scene.isFree(`${scene.key}/kept`);
  }),
];
