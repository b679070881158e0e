import type { Scene } from '../stage/scene.ts';
import { FOR_EVER, naively, POLL, polls, withLock } from './jobs.ts';

const RUN = `await lock.run(async (lease) => {
  const n = await counter.read(lease.token);
  await work();
  await counter.write(n + 1, lease.token);
});`;

export const checkThenSet: Scene = {
  name: 'check-then-set',
  ends: 2_200,
  ttl: 900,
  harm: 'two',
  plot: (stage) => {
    stage.at(20, () => stage.start('A'));
    stage.at(25, () => stage.start('B'));
    stage.at(60, () => stage.start('C'));
  },
  naive: {
    naive: true,
    shows: ['looks-free', 'overwrites', 'overlaps'],
    code: `while (await redis.get(key)) await sleep(80);
await redis.set(key, me);  // a second step
await work();
await redis.del(key);`,
    job: naively(300, async (actor) => {
      while (await actor.store.get()) await actor.sleep(POLL);
      await actor.store.set(900);
    }),
  },
  holdfast: { naive: false, shows: ['queued', 'admitted'], code: RUN, job: withLock(300) },
};

export const setThenExpire: Scene = {
  name: 'set-then-expire',
  ends: 3_000,
  ttl: 600,
  harm: 'idle',
  plot: (stage) => {
    stage.at(20, () => stage.start('A'));
    stage.at(150, () => stage.start('B'));
    const dies = (): void => stage.troubles.kill('A');
    stage.once('granted', 'A', dies);
    stage.once('granted-for-ever', 'A', dies);
  },
  naive: {
    naive: true,
    shows: ['granted-for-ever', 'killed'],
    code: `await redis.setnx(key, me);
await redis.expire(key, 600);  // never sent
await work();
await redis.del(key);`,
    job: naively(300, async (actor) => {
      await polls(actor, FOR_EVER);
      await actor.store.expire(600);
    }),
  },
  holdfast: { naive: false, shows: ['granted', 'killed', 'expired', 'admitted'], code: RUN, job: withLock(300) },
};

export const crash: Scene = {
  name: 'crash',
  ends: 3_000,
  ttl: 600,
  harm: 'idle',
  plot: (stage) => {
    stage.at(20, () => stage.start('A'));
    stage.at(120, () => stage.start('B'));
    stage.once('reads', 'A', () => stage.at(stage.now + 200, () => stage.troubles.kill('A')));
  },
  naive: {
    naive: true,
    shows: ['granted-for-ever', 'killed'],
    code: `while (!(await redis.setnx(key, me))) await sleep(80);
await work();  // killed here
await redis.del(key);`,
    job: naively(500, (actor) => polls(actor, FOR_EVER)),
  },
  holdfast: { naive: false, shows: ['killed', 'expired', 'admitted'], code: RUN, job: withLock(500) },
};

export const spinning: Scene = {
  name: 'spinning',
  ends: 3_000,
  ttl: 900,
  harm: 'storm',
  plot: (stage) => {
    for (const [i, who] of (['A', 'B', 'C'] as const).entries()) stage.at(20 + 30 * i, () => stage.start(who));
    // A server that is near.
    stage.network.fate = ({ from, to }) =>
      [from, to].includes('resource') ? undefined : { takes: stage.choice.between(8, 12) };
  },
  naive: {
    naive: true,
    shows: ['refused'],
    code: `while (!(await redis.set(key, me, 'NX', 'PX', 900)))
  await sleep(5);  // again, and again`,
    job: naively(500, (actor) => polls(actor, 900, 5)),
  },
  holdfast: { naive: false, shows: ['queued', 'admitted'], code: RUN, job: withLock(500) },
};

export const lostWakeUp: Scene = {
  name: 'lost-wake-up',
  ends: 3_000,
  ttl: 900,
  harm: 'idle',
  plot: (stage) => {
    stage.at(20, () => stage.start('A'));
    stage.at(200, () => stage.start('B'));
    // What would wake B comes too early, or gets lost.
    stage.network.fate = ({ kind, from }) => {
      if (kind === 'subscribe' && from === 'B') return { hold: 500 };
      return kind === 'wake' ? 'lose' : undefined;
    };
  },
  naive: {
    naive: true,
    shows: ['held-up', 'subscribed'],
    code: `while (!(await redis.setnx(key, me))) {
  await redis.subscribe('released');  // comes too late
  await nextMessage();
}`,
    job: async (actor) => {
      while (!(await actor.store.add(FOR_EVER))) {
        const woken = Promise.withResolvers<void>();
        await actor.store.subscribe(woken.resolve).catch(() => {});
        await woken.promise;
      }
      actor.has();
      await actor.counts(200);
      actor.gives();
      await actor.store.delete({ publish: true });
    },
  },
  holdfast: { naive: false, shows: ['lost', 'again'], code: RUN, job: withLock(200) },
};
