import type { Scene } from '../stage/scene.ts';
import { insists, polls, withLock } from './jobs.ts';

export const robbed: Scene = {
  name: 'robbed',
  ends: 3_600,
  ttl: 600,
  harm: 'two',
  plot: (stage) => {
    stage.at(20, () => stage.start('A'));
    stage.at(200, () => stage.start('B'));
    stage.at(400, () => stage.start('C'));
  },
  naive: {
    naive: true,
    shows: ['expired', 'robs', 'overlaps'],
    code: `try {
  await work();  // longer than the lease
} finally {
  await redis.del(key);  // whose is it by now?
}`,
    job: async (actor) => {
      await polls(actor, 600, 40);
      actor.has();
      await actor.counts(actor.name === 'A' ? 850 : 700);
      actor.gives();
      await actor.store.delete();
    },
  },
  holdfast: {
    naive: false,
    shows: ['stops-believing', 'fenced', 'returns-false'],
    code: `const lease = await lock.acquire({ renew: false });
try {
  await work(lease.token);  // longer than the lease
} finally {
  await lease.release();  // false: it touches nothing
}`,
    job: async (actor) => {
      const first = actor.name === 'A';
      const lease = await actor.lock.acquire({ renew: !first });
      actor.has(lease);
      try {
        // The first one does not look at its lease.
        await (first ? actor.counts(850, { token: lease.token }) : actor.counts(700, lease));
      } finally {
        actor.gives();
        if (!(await lease.release())) actor.tell('returns-false');
      }
    },
  },
};

export const repeatedRelease: Scene = {
  name: 'repeated-release',
  ends: 3_000,
  ttl: 900,
  harm: 'two',
  plot: (stage) => {
    stage.at(20, () => stage.start('A'));
    stage.at(120, () => stage.start('B'));
    stage.at(160, () => stage.start('C'));
    const { fate } = stage.network;
    let lost = false;
    stage.network.fate = (message) => {
      const { kind, answer, to } = message;
      if (lost || to !== 'A' || !answer || (kind !== 'delete' && kind !== 'release')) return fate(message);
      lost = true;
      return 'lose';
    };
  },
  naive: {
    naive: true,
    shows: ['lost', 'robs', 'overlaps'],
    code: `await retry(() => redis.del(key));
// The first one worked. Its answer was lost.
// The second one frees somebody else's.`,
    job: async (actor) => {
      await polls(actor, 900, 40);
      actor.has();
      await actor.counts(actor.name === 'A' ? 200 : 450);
      actor.gives();
      await insists(actor, (store) => store.delete());
    },
  },
  holdfast: {
    naive: false,
    shows: ['lost', 'releases-nothing'],
    code: `await lease.release();
// Sent again, it names the same claim:
// gone is gone, and nobody else's is touched.`,
    job: (actor) => withLock(actor.name === 'A' ? 200 : 450)(actor),
  },
};
