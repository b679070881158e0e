import type { Scene } from '../stage/scene.ts';
import { insists, naively, POLL, withLock } from './jobs.ts';

export const lostReply: Scene = {
  name: 'lost-reply',
  ends: 3_200,
  ttl: 2_000,
  harm: 'idle',
  plot: (stage) => {
    stage.at(20, () => stage.start('A'));
    stage.at(200, () => stage.start('B'));
    let lost = false;
    stage.network.fate = ({ kind, to, answer }) => {
      if (lost || to !== 'A' || !answer || (kind !== 'set' && kind !== 'attempt')) return undefined;
      lost = true;
      return 'lose';
    };
  },
  naive: {
    naive: true,
    shows: ['lost', 'refused'],
    code: `while (!(await retry(() =>
  redis.set(key, me, 'NX', 'PX', 2000)))) await sleep(80);
// Taken: by itself. It does not know.`,
    job: naively(300, async (actor) => {
      while (!(await insists(actor, (store) => store.add(2_000)))) await actor.sleep(POLL);
    }),
  },
  holdfast: {
    naive: false,
    shows: ['lost', 'again'],
    code: `await lock.run(work);
// No answer means: nobody knows.
// It asks again by the same id, and gets the same grant.`,
    job: withLock(300),
  },
};

/** A request that comes when its sender has long given up. */
export const ghost: Scene = {
  name: 'ghost',
  ends: 3_800,
  ttl: 2_000,
  harm: 'idle',
  plot: (stage) => {
    stage.at(20, () => stage.start('A'));
    stage.at(1_560, () => stage.start('B'));
    let held = false;
    stage.network.fate = ({ kind, from }) => {
      if (held || from !== 'A' || (kind !== 'set' && kind !== 'attempt')) return undefined;
      held = true;
      return { hold: 1_400 };
    };
  },
  naive: {
    naive: true,
    shows: ['held-up', 'gives-up', 'refused'],
    code: `const ok = await withTimeout(500,
  redis.set(key, me, 'NX', 'PX', 2000));
if (!ok) throw new Error('busy, try later');`,
    job: naively(200, async (actor) => {
      while (!(await actor.store.add(2_000))) await actor.sleep(POLL);
    }),
  },
  holdfast: {
    naive: false,
    shows: ['held-up', 'gives-up', 'late'],
    code: `await lock.run(work, { wait: 500 });
// Each request says until when it may be done.
// The engine refuses the one that comes too late.`,
    job: withLock(200, { wait: 500 }),
  },
};
