import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type AnyLease,
  type Backend,
  channels,
  type LockEvent,
  type LockOptions,
  type Wake,
} from '../../../src/core/index.ts';
import type { Locks } from '../../../src/locks.ts';
import { around } from '../around.ts';
import { type Law, law } from '../case.ts';
import { meanwhile } from '../limited.ts';
import type { Scene } from '../scene.ts';

/** The data that an application keeps for each request. */
const request = new AsyncLocalStorage<string>();
const here = (): string | undefined => request.getStore();

/** Callers of a process share timers, connections and queues, but never run in another caller's async context. */
export const contexts: readonly Law[] = [
  law(
    'a loss is told in the context of the caller that has the lease, where no other’s hold can be entered',
    async (scene) => {
      const locks = await scene.locks();
      using told = tellings(scene);
      const hot = locks.mutex(`${scene.key}/hot`);
      const short = { ttl: scene.ttl, renew: false };
      const lost = await asking('b', locks, `${scene.key}/lost`, short);
      const loss = request.run('b', () => {
        const { signal } = lost;
        return new Promise<{ context: string | undefined; stranger: Promise<AnyLease | null> }>((resolve) => {
          signal.addEventListener('abort', () => resolve({ context: here(), stranger: hot.tryAcquire() }));
        });
      });
      // Caller a loses this lease first. That sets the timer that all leases share, which must not bring a's context to b.
      const inside = () => asking('a', locks, `${scene.key}/first`, { ...short, notice: scene.ttl * 0.6 });
      await request.run('a', () =>
        hot.run(async (lease) => {
          await inside();
          const { context, stranger } = await scene.soon(loss, 'the loss signal');
          assert.equal(context, 'b', 'the context in which b hears of its loss');
          assert.equal(await stranger, null, 'b must not be in what a holds');
          lease.assertHeld();
        }),
      );
      told.areTheirs();
    },
  ),
  law('a process that makes way for a caller lends it no context, nor does the connection', async (scene) => {
    const heard: string[] = [];
    const note = (what: string): void => {
      if (here() !== undefined) heard.push(`${what}, by ${here()}`);
    };
    const locks = await scene.locks({}, noting(await scene.another(), note));
    const there = (await scene.locks()).mutex(scene.key);
    using told = tellings(scene);
    const far = await request.run('far', () => there.acquire({ label: 'far' }));
    const turns = ['a', 'b', 'c'].map((name) => {
      const turn = async (): Promise<void> => {
        const lease = await asking(name, locks, scene.key, { ttl: scene.ttl });
        assert.equal(here(), name, 'the context in which an acquire goes on');
        if (name === 'a') await scene.pass(scene.ttl / 2); // time for a renewal
        await lease.release();
        assert.equal(here(), name, 'the context in which a release goes on');
      };
      return meanwhile(request.run(name, turn));
    });
    await scene.pass(scene.tolerance / 10);
    await request.run('far', () => far.release());
    await scene.soon(Promise.all(turns), 'three turns');
    await request.run('last', () => locks.close());
    assert.deepEqual(heard, [], 'calls to the backend, and what it calls, belong to nobody');
    told.areTheirs();
  }),
];

const asking = (name: string, locks: Locks, key: string, options: LockOptions): Promise<AnyLease> =>
  request.run(name, () => locks.mutex(key).acquire({ ...options, label: name }));

/** Calls `note` for each call to a client, and for each wake-up that the client sends. */
function noting(client: Backend, note: (what: string) => void): Backend {
  const noted = <A extends unknown[], T>(what: string, call: (...args: A) => T) => {
    return (...args: A): T => {
      note(what);
      return call.apply(client, args);
    };
  };
  const { attempt, renew, release, watch, close } = client;
  return around(client, {
    attempt: noted('attempt', attempt),
    renew: noted('renew', renew),
    release: noted('release', release),
    close: noted('close', close),
    watch: watch && noted('watch', (claim, wake: Wake, age) => watch.call(client, claim, noted('wake', wake), age)),
  });
}

/** Collects the events of a scene. Each event must come in the context of the caller that its label names. */
function tellings(scene: Scene): Disposable & { areTheirs(): void } {
  const wrong: string[] = [];
  let count = 0;
  const listeners = Object.entries(channels).map(([name, channel]) => {
    const listener = (event: unknown): void => {
      const { key, label } = event as LockEvent;
      if (!key.startsWith(scene.key) || key.endsWith('/hot')) return;
      count++;
      if (here() !== label) wrong.push(`${name} of ${label} in the context of ${here() ?? 'nobody'}`);
    };
    channel.subscribe(listener);
    return () => channel.unsubscribe(listener);
  });
  return {
    areTheirs() {
      assert.deepEqual(wrong, []);
      assert.ok(count > 0, 'events were told');
    },
    [Symbol.dispose]() {
      for (const unlisten of listeners) unlisten();
    },
  };
}
