import type { Scene } from '../simulation/history.ts';
import type { MemoScene } from '../simulation/memo/history.ts';
import type { Actor } from './actor.ts';

/** What the callers of a few processes do. */
export interface Plot {
  readonly name: string;
  readonly clients: number;
  /** Engines; over more than one a majority decides. Default 1. */
  readonly nodes?: number;
  readonly wakes?: Scene['wakes'];
  readonly keptBy?: Scene['keptBy'];
  /** Virtual ms in which something may go wrong. Default 1,200: four leases. */
  readonly horizon?: number;
  /** What it has of memos: whether results are kept, and how often one is begun without any. */
  readonly memos?: Pick<MemoScene, 'keeps' | 'attempts'>;
  readonly act: (actor: Actor, which: number) => Promise<void>;
}

const mutex = (actor: Actor) => actor.locks.mutex('a');

const twoCallers = async (actor: Actor, which: number): Promise<void> => {
  if (which > 0) return actor.uses(mutex(actor));
  await Promise.all([actor.uses(mutex(actor)), actor.uses(mutex(actor))]);
};

export const PLOTS: readonly Plot[] = [
  { name: 'a mutex', clients: 2, act: (actor) => actor.uses(mutex(actor)) },
  { name: 'a mutex, told by mail', clients: 2, wakes: 'buffered', act: (actor) => actor.uses(mutex(actor)) },
  { name: 'a mutex where nobody is woken', clients: 2, wakes: 'never', act: (actor) => actor.uses(mutex(actor)) },
  { name: 'a mutex on a session', clients: 2, keptBy: 'session', act: (actor) => actor.uses(mutex(actor)) },
  { name: 'a mutex, three processes', clients: 3, act: (actor) => actor.uses(mutex(actor)) },
  { name: 'hand-off', clients: 2, wakes: 'buffered', act: twoCallers },
  {
    name: 'work as long as the lease',
    clients: 2,
    act: (actor, which) =>
      actor.uses(mutex(actor), { renew: which > 0 }, which > 0 ? undefined : () => actor.works(400)),
  },
  {
    name: 'run',
    clients: 2,
    act: (actor) =>
      actor.does('run', () =>
        mutex(actor).run(
          async (lease) => {
            actor.has(lease);
            await actor.step();
          },
          { wait: 600 },
        ),
      ),
  },
  {
    name: 'tryAcquire',
    clients: 2,
    act: (actor) =>
      actor.does('tryAcquire', async () => {
        const lease = await mutex(actor).tryAcquire();
        if (!lease) return;
        actor.has(lease);
        await actor.step();
        await actor.gives(lease);
      }),
  },
  {
    name: 'an extension nobody waits for, and a release',
    clients: 2,
    act: (actor, which) =>
      actor.uses(mutex(actor), which === 0 ? { renew: false } : {}, async (lease) => {
        const extended = lease.extend(500).catch(() => {});
        await actor.step();
        if (which > 0) await extended;
      }),
  },
  {
    name: 'an extension beside a renewal',
    clients: 2,
    act: (actor, which) => {
      if (which > 0) return actor.uses(mutex(actor));
      return actor.uses(mutex(actor), {}, async (lease) => {
        await actor.works(101); // a third of the lease: the renewal is on its way
        await lease.extend(800).catch(() => {});
        await actor.works(500);
      });
    },
  },
  {
    name: 'two extensions at once',
    clients: 2,
    act: (actor, which) => {
      if (which > 0) return actor.uses(mutex(actor));
      return actor.uses(mutex(actor), { renew: false }, async (lease) => {
        await Promise.all([lease.extend(310), lease.extend(700)]).catch(() => {});
        await actor.works(500);
      });
    },
  },
  {
    name: 'a hand-off while an extension is on its way',
    clients: 2,
    wakes: 'buffered',
    act: async (actor, which) => {
      if (which > 0) return actor.uses(mutex(actor));
      const options = { wait: 600, handOff: { max: 3, within: 400 } };
      await actor.does('relay', async () => {
        const first = await mutex(actor).acquire(options);
        const waiting = mutex(actor).acquire(options);
        waiting.catch(() => {});
        actor.has(first);
        first.extend(100).catch(() => {}); // no longer than it was
        await actor.step();
        await actor.gives(first);
        const next = await waiting;
        actor.has(next);
        await next.extend(700).catch(() => {});
        await actor.works(500);
        await actor.gives(next);
      });
    },
  },
  {
    name: 'a release twice, and from a listener',
    clients: 2,
    act: (actor) =>
      actor.does('release twice', async () => {
        const lease = await mutex(actor).acquire({ wait: 600 });
        actor.has(lease);
        lease.signal.addEventListener('abort', () => void lease.release().catch(() => {}));
        await actor.step();
        await Promise.all([actor.gives(lease), lease.release()]);
      }),
  },
  {
    name: 'close in the middle',
    clients: 2,
    act: async (actor, which) => {
      const using = actor.uses(mutex(actor));
      if (which === 0) {
        await actor.step();
        await actor.does('close', () => actor.locks.close());
      }
      await using;
    },
  },
  {
    name: 'a wait that is given up',
    clients: 2,
    act: (actor, which) =>
      actor.uses(mutex(actor), which > 0 ? { wait: 50 } : {}, which > 0 ? undefined : () => actor.works(100)),
  },
  {
    name: 'readers and a writer',
    clients: 2,
    act: async (actor, which) => {
      const { read, write } = actor.locks.rwLock('a');
      await actor.uses(which > 0 ? write : read);
      if (which > 0) await actor.uses(read);
    },
  },
  {
    name: 'permits',
    clients: 3,
    act: (actor) => actor.uses(actor.locks.semaphore('a', { permits: 2 })),
  },
  {
    name: 'several at once, in either order',
    clients: 2,
    act: (actor, which) => actor.uses(actor.locks.all(which > 0 ? ['a', 'b'] : ['b', 'a'])),
  },
  {
    name: 're-entrance, children side by side',
    clients: 2,
    act: (actor) =>
      actor.does('run', () =>
        mutex(actor).run(
          async (lease) => {
            actor.has(lease);
            const child = async (number: number): Promise<void> => {
              const inner = await mutex(actor).acquire();
              actor.has(inner);
              actor.enters(inner, number);
              await actor.step();
              actor.leaves(inner, number);
              await actor.gives(inner);
            };
            await Promise.all([child(1), child(2)]);
          },
          { wait: 600 },
        ),
      ),
  },
  { name: 'minHold', clients: 2, act: (actor) => actor.uses(mutex(actor), { minHold: 150 }) },
  {
    name: 'maxHold',
    clients: 2,
    act: (actor, which) => actor.uses(mutex(actor), { maxHold: 150 }, which > 0 ? undefined : () => actor.works(350)),
  },
  {
    name: 'adaptive leases',
    clients: 2,
    act: (actor) => actor.uses(mutex(actor), { renew: false, adaptive: { cap: 600 } }),
  },
  {
    name: 'forced release',
    clients: 2,
    act: async (actor, which) => {
      if (which > 0)
        await actor.does('forceRelease', () => actor.locks.forceRelease('a', { reason: 'explored' }).then(() => {}));
      await actor.uses(mutex(actor));
    },
  },
  { name: 'a quorum of three', clients: 2, nodes: 3, act: (actor) => actor.uses(mutex(actor)) },
];
