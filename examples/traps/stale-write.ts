import { setTimeout as pass } from 'node:timers/promises';
import { redisFence } from '../../src/fence/index.ts';
import { isLockError } from '../../src/index.ts';
import type { Trap } from './scene.ts';

const LEASE = 200;

export const staleWrite: Trap = {
  title: 'A pause longer than the lease: the old owner wakes and writes',

  async naive(scene) {
    const client = scene.client();
    await client.set('counter', 10);
    await client.set('job', 'first', 'PX', LEASE, 'NX');
    const seen = Number(await client.get('counter'));
    await pass(2 * LEASE); // the process is stopped: nothing of it runs
    await client.set('job', 'second', 'PX', 60_000, 'NX');
    await client.incr('counter');
    await client.set('counter', seen + 1); // the first one goes on where it was
    const counter = await client.get('counter');
    return { right: counter === '12', seen: `two counted up from 10, and the counter is ${counter}` };
  },

  /** The resource refuses the old token. The lock cannot: nobody can tell a stopped process that its time is over. */
  async holdfast(scene) {
    const client = scene.client();
    const fence = redisFence(client, 'counter');
    const add = async (token: bigint, pause: number): Promise<void> => {
      await fence.claim(token);
      const seen = Number(await client.get('counter'));
      await pass(pause);
      await fence.write(token, "return redis.call('SET', KEYS[1], ARGV[1])", ['counter'], [`${seen + 1}`]);
    };
    await client.set('counter', 10);
    const first = await scene.locks().mutex('job').acquire({ ttl: LEASE, renew: false });
    const late = add(first.token, 2 * LEASE).then(
      () => 'written',
      (error) => (isLockError(error, 'LOCK_FENCED') ? 'refused' : Promise.reject(error)),
    );
    await scene
      .locks()
      .mutex('job')
      .run(({ token }) => add(token, 0));
    const outcome = await late;
    const counter = await client.get('counter');
    return {
      right: outcome === 'refused' && counter === '11',
      seen: `the stale write was ${outcome}; the second one's is there: ${counter}`,
    };
  },
};
