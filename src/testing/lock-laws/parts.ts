import assert from 'node:assert/strict';
import { type Law, law } from '../law.ts';
import { fails } from './fails.ts';
import { listening } from './listening.ts';

/** `all()` holds several keys as one. */
export const parts: readonly Law[] = [
  law('all() holds every key, with a token for each that is exclusive', async (scene) => {
    const [here, there] = await scene.processes();
    const keys = ['/b', '/a', '/c'].map((name) => scene.key + name);
    const lease = await here.all(keys).acquire();
    assert.deepEqual([...lease.tokens.keys()].sort(), [...keys].sort());
    for (const key of keys) assert.equal(await there.mutex(key).tryAcquire(), null, `${key} is part of it`);
    assert.equal(await lease.release(), true);
    for (const key of keys) await scene.isFree(key);
  }),
  law('all() that cannot have one key keeps none', async (scene) => {
    const there = await scene.locks();
    const keys = ['/a', '/b', '/c'].map((name) => scene.key + name);
    const { locks: here, code } = await listening(scene, keys[1]);
    const taken = await there.mutex(keys[1]!).acquire();
    // Long enough for two answers. One that comes after the wait, while the first key is given back, would be taken for the reason.
    await fails(() => here.all(keys).acquire({ wait: scene.tolerance * 4 }), code, 'a key is taken');
    await scene.isFree(keys[0]);
    assert.equal(await here.all(keys).tryAcquire(), null);
    await scene.isFree(keys[0]);
    await scene.isFree(keys[2]);
    taken.assertHeld();
    await taken.release();
  }),
  law('all() is lost when one part is', ['expires'], async (scene) => {
    const locks = await scene.locks();
    const short = locks.mutex(`${scene.key}/short`, { ttl: scene.ttl, renew: false });
    const lease = await locks.all([short, `${scene.key}/long`]).acquire({ ttl: scene.ttl, renew: false });
    await scene.expired();
    assert.equal(lease.held, false);
    assert.equal(lease.signal.aborted, true);
    await lease.release();
  }),
];
