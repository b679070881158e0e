import assert from 'node:assert/strict';
import { type Law, law } from '../law.ts';
import type { Scene } from '../scene.ts';

interface Observing extends AsyncDisposable {
  readonly times: number;
  readonly told: Promise<void>;
}

async function observe(scene: Scene): Promise<Observing> {
  let times = 0;
  const { promise: told, resolve } = Promise.withResolvers<void>();
  const watch = await scene.clients[1].changed!(scene.key, () => {
    times++;
    resolve();
  });
  return {
    get times() {
      return times;
    },
    told,
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

/** An observer has no claim. As soon as its watch is armed, it hears of every change of the line. */
export const changes: readonly Law[] = [
  law(
    'an observer is told of the first who comes, of another, and of a holder that leaves',
    ['changed', 'fair'],
    async (scene) => {
      const [holder, waiter] = scene.pair();
      const steps: Readonly<Record<string, () => Promise<unknown>>> = {
        'the first came': () => holder.gets(),
        'another came': () => waiter.waits(),
        'the holder left': () => holder.leaves(),
      };
      for (const [what, step] of Object.entries(steps)) {
        await using observing = await observe(scene);
        assert.equal(observing.times, 0, 'told before anything happened');
        await step();
        await scene.soon(observing.told, `an observer is told that ${what}`);
      }
    },
  ),
  law('an observer is told of a hold that expires', ['changed', 'expires'], async (scene) => {
    const holder = scene.contender({ ttl: scene.ttl });
    await holder.gets();
    await using observing = await observe(scene);
    await scene.expired();
    await scene.soon(observing.told, 'an observer is told of the expiry');
  }),
  law('an observer is told once, and not after it has left', ['changed', 'fair'], async (scene) => {
    const [holder, other] = scene.pair();
    await using stays = await observe(scene);
    const leaves = await observe(scene);
    await leaves[Symbol.asyncDispose]();
    await holder.gets();
    await other.waits();
    await scene.soon(stays.told, 'an observer is told');
    await holder.leaves();
    await using later = await observe(scene);
    await other.leaves();
    await scene.soon(later.told, 'an observer is told'); // what the others could hear came before this
    assert.equal(stays.times, 1, 'told once');
    assert.equal(leaves.times, 0, 'not told after it has left');
  }),
];
