import type { Actor } from '../stage/actor.ts';
import type { Scene } from '../stage/scene.ts';
import type { StoreClient } from '../stage/store-client.ts';
import { naively, polls, withLock } from './jobs.ts';

/** So long the primary's copy lags behind, ms. */
const LAG = 400;

/** The server that it takes for the primary now. */
const primaryOf = ({ stores }: Actor): StoreClient => stores.find((store) => store.alive)!;

export const failOver: Scene = {
  name: 'fail-over',
  ends: 3_000,
  ttl: 1_200,
  harm: 'two',
  plot: (stage) => {
    const [primary, replica] = stage.stores;
    stage.at(20, () => stage.start('A'));
    if (primary && replica) {
      primary.onChange = () => {
        const copy = primary.get();
        stage.network.tell(replica.machine, primary.machine, () => replica.copy(copy), 'copy');
      };
      stage.network.fate = ({ kind }) => (kind === 'copy' ? { takes: LAG } : undefined);
    }
    stage.once('begins', 'A', () => {
      stage.at(stage.now + 60, () => {
        stage.troubles.kill('engine 1');
        if (!primary) return;
        for (const { id, kind } of [...stage.network.messages]) if (kind === 'copy') stage.network.lose(id);
        stage.tell({ what: 'promoted', who: 'engine 2' });
      });
      stage.at(stage.now + 200, () => stage.start('B'));
    });
  },
  naive: {
    naive: true,
    shows: ['killed', 'promoted', 'overlaps'],
    engines: 2,
    code: `// A primary, and a replica that hears of it later.
await redis.set(key, me, 'NX', 'PX', 1200);`,
    job: naively(
      700,
      async (actor) => {
        while (!(await primaryOf(actor).add(1_200))) await actor.sleep(80);
      },
      (actor) => primaryOf(actor).delete(),
    ),
  },
  holdfast: {
    naive: false,
    shows: ['killed', 'refused'],
    engines: 3,
    code: `const locks = createLocks(quorum([one, two, three]));
await locks.mutex('counter').run(work);
// One may die: the others remember.`,
    job: withLock(700),
  },
};

const PAUSE = 120;

/** Two of three, each from its own server; a process that has fewer gives them back and tries again, all at the same pace. */
async function majority(actor: Actor): Promise<void> {
  for (;;) {
    const had = await Promise.all(actor.stores.map((store) => store.add(1_200)));
    if (had.filter(Boolean).length > had.length / 2) return;
    actor.tell('splits', { n: had.filter(Boolean).length });
    await Promise.all(actor.stores.filter((_, i) => had[i]).map((store) => store.delete()));
    await actor.sleep(PAUSE);
  }
}

export const splitVotes: Scene = {
  name: 'split-votes',
  ends: 4_500,
  ttl: 1_200,
  harm: 'idle',
  plot: (stage) => {
    for (const who of ['A', 'B', 'C'] as const) stage.at(20, () => stage.start(who));
    // Each is near to another engine.
    const near = new Map([
      ['A', 'engine 1'],
      ['B', 'engine 2'],
      ['C', 'engine 3'],
    ]);
    stage.network.fate = ({ from, to }) => {
      const person = near.has(from) ? from : to;
      const other = person === from ? to : from;
      if (!other.startsWith('engine')) return undefined;
      return { takes: (near.get(person) === other ? 12 : 40) + stage.choice.between(0, 1) };
    };
  },
  naive: {
    naive: true,
    shows: ['splits'],
    engines: 3,
    code: `for (;;) {
  const votes = await askAll(nodes);
  if (votes > nodes.length / 2) break;
  await giveBackAll(nodes);
  await sleep(120);  // and so do all the others
}`,
    job: async (actor) => {
      await majority(actor);
      actor.has();
      await actor.counts(200);
      actor.gives();
      await Promise.all(actor.stores.map((store) => store.delete()));
    },
  },
  holdfast: {
    naive: false,
    shows: ['begins', 'finishes'],
    engines: 3,
    code: `const locks = createLocks(quorum([one, two, three]));
await locks.mutex('counter').run(work);
// Rivals that split the votes wait for a random time.`,
    job: withLock(200),
  },
};

/** Nothing is planned: people do it all. */
export const free: Scene = {
  name: 'free',
  ends: 4_000,
  ttl: 600,
  plot: (stage) => stage.at(20, () => stage.start('A')),
  naive: {
    naive: true,
    shows: [],
    code: `while (!(await redis.set(key, me, 'NX', 'PX', 600))) await sleep(80);
await work();  // takes 900
await redis.del(key);`,
    job: naively(900, (actor) => polls(actor, 600)),
  },
  holdfast: {
    naive: false,
    shows: [],
    code: `const lock = locks.mutex('counter', { ttl: 600 });
await lock.run(work);  // takes 900`,
    job: withLock(900),
  },
};
