import type { Scene } from '../stage/scene.ts';
import { FOR_EVER, naively, polls, withLock } from './jobs.ts';

export const outlivedLease: Scene = {
  name: 'outlived-lease',
  ends: 3_200,
  ttl: 600,
  harm: 'two',
  plot: (stage) => {
    stage.at(20, () => stage.start('A'));
    stage.at(200, () => stage.start('B'));
  },
  naive: {
    naive: true,
    shows: ['expired', 'overlaps'],
    code: `await redis.set(key, me, 'NX', 'PX', 600);
await work();  // takes 1000
await redis.del(key);`,
    job: naively(1_000, (actor) => polls(actor, 600)),
  },
  holdfast: {
    naive: false,
    shows: ['renewed', 'queued', 'admitted'],
    code: `const lock = locks.mutex('counter', { ttl: 600 });
await lock.run(work);  // renewed every 200`,
    job: withLock(1_000),
  },
};

export const staleWrite: Scene = {
  name: 'stale-write',
  ends: 3_200,
  ttl: 600,
  harm: 'lost',
  plot: (stage) => {
    stage.at(20, () => stage.start('A'));
    stage.at(250, () => stage.start('B'));
    // After the last look at the lease, before the write.
    stage.once('checks', 'A', () => stage.troubles.pause('A', 1_400));
  },
  naive: {
    naive: true,
    shows: ['paused', 'overlaps', 'loses'],
    code: `const n = await counter.read();
await work();
// paused right here
await counter.write(n + 1);`,
    job: naively(200, (actor) => polls(actor, 600)),
  },
  holdfast: {
    naive: false,
    shows: ['paused', 'expired', 'fenced'],
    code: `const n = await counter.read(lease.token);
await work();
lease.assertHeld();  // paused right here
await counter.write(n + 1, lease.token);`,
    job: withLock(200),
  },
};

export const oneself: Scene = {
  name: 'oneself',
  ends: 2_400,
  ttl: 900,
  harm: 'idle',
  plot: (stage) => {
    stage.at(20, () => stage.start('A'));
    stage.at(150, () => stage.start('B'));
  },
  naive: {
    naive: true,
    shows: ['granted-for-ever', 'refused'],
    code: `async function outer() {
  await take(key);
  await inner();  // takes it, too: waits for itself
}`,
    job: async (actor) => {
      await polls(actor, FOR_EVER);
      actor.has();
      await actor.sleep(80);
      actor.doing = 'asks';
      await polls(actor, FOR_EVER);
      await actor.counts(200);
    },
  },
  holdfast: {
    naive: false,
    shows: ['re-enters'],
    code: `await lock.run(async () => {
  await lock.run(inner);  // the same hold, the same token
});`,
    job: (actor) =>
      actor.lock.run(async (lease) => {
        actor.has(lease);
        await actor.sleep(80);
        await actor.lock.run(async (inner) => {
          actor.tell('re-enters', { token: `${inner.token}` });
          await actor.counts(200, inner);
        });
        actor.gives();
      }),
  },
};

/** The naive one compares times of two clocks. */
export const clocks: Scene = {
  name: 'clocks',
  ends: 2_600,
  ttl: 900,
  ahead: { B: 800 },
  harm: 'two',
  plot: (stage) => {
    stage.at(20, () => stage.start('A'));
    stage.at(220, () => stage.start('B'));
  },
  naive: {
    naive: true,
    shows: ['overwrites', 'overlaps'],
    code: `await store.set(key, { me, until: Date.now() + 900 });
// and elsewhere, by another clock:
if (found.until < Date.now()) await takeOver(key);`,
    job: naively(600, async (actor) => {
      for (;;) {
        const found = await actor.store.get();
        if (!found || Number(found.text) < actor.wall) break;
        await actor.sleep(80);
      }
      await actor.store.set(FOR_EVER, `${actor.wall + 900}`);
    }),
  },
  holdfast: {
    naive: false,
    shows: ['queued', 'admitted'],
    code: `// Only durations are sent.
// Only the engine's clock compares times.
await lock.run(work);`,
    job: withLock(600),
  },
};
