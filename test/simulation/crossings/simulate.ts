import { randomFrom } from '../../../products/testing/random.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import type { createLocks } from '../../../src/locks.ts';
import { Choice } from '../choice.ts';
import type { History, Scene } from '../history.ts';
import { load } from '../memo/simulate.ts';
import { Network } from '../network.ts';
import { Process } from '../process.ts';
import { Servers } from '../servers.ts';
import { DRIFT, HEALED, TROUBLE, trouble, weatherOf } from '../simulate.ts';
import { LONGEST_TTL } from '../workload.ts';
import { World } from '../world.ts';
import { CrossingCaller } from './caller.ts';
import {
  excluded,
  FEATURES,
  type Feature,
  type Kind,
  PAIRS,
  type Pair,
  PRIMITIVES,
  type Primitive,
} from './features.ts';
import { Moments } from './moments.ts';
import { CrossingRecorder } from './recorder.ts';

/** What each schedule is about, one after the other. */
export const SUBJECTS: readonly Pair[] = PAIRS.filter(({ place }) => place === 'beside');
/** Callers begin, and trouble comes, within this time. ms */
const BUSY = 1_500;
const SETTLED = LONGEST_TTL + 20_000;

export interface Crossing {
  readonly subject: Pair;
  readonly history: History;
}

/** A process, its callers, and what is to happen in it. */
class Side {
  readonly process: Process;
  readonly watches: () => number;
  readonly locks: { close(): Promise<void> };
  /** Made anew for each of its callers. */
  readonly caller: () => CrossingCaller;
  /** What is reached when its process crashes: others wait for it. */
  readonly moments: Moments[] = [];
  readonly #crashed: () => void;
  #working = 0;

  constructor(process: Process, { watches, crashed }: ReturnType<Servers['connect']>, caller: () => CrossingCaller) {
    this.process = process;
    this.watches = watches;
    this.caller = caller;
    this.#crashed = crashed;
    this.locks = { close: () => caller().closes() };
  }

  get idle(): boolean {
    return this.process.crashed || this.#working === 0;
  }

  /** The moments of a request of this process. */
  request(): Moments {
    const moments = new Moments();
    this.moments.push(moments);
    return moments;
  }

  /** One caller works. */
  works(work: (by: CrossingCaller) => Promise<void>): void {
    this.#working++;
    void work(this.caller()).then(() => this.#working--);
  }

  readonly crashed = (): void => {
    this.#crashed();
    for (const moments of this.moments) moments.reach('done');
  };
}

/** A whole run from one seed, in which two features meet; the seeds go through all pairs of them. */
export async function simulateCrossing(seed: number, create: typeof createLocks): Promise<Crossing> {
  const subject = SUBJECTS[(seed - 1) % SUBJECTS.length]!;
  const choice = new Choice(randomFrom(seed));
  const world = new World();
  const drift = (): number => 1 + choice.between(-DRIFT, DRIFT);
  const servers = new Servers([new Process('engine', world, drift(), choice.random)], quorum);
  const scene = sceneOf(subject.kind, choice);
  const network = new Network(world, choice, weatherOf(scene, choice));
  using recorder = new CrossingRecorder(world, servers.evicted);
  for (const engine of servers.engines) {
    engine.onAdmitted = (id) => recorder.add({ what: 'admitted', id });
    engine.onFreed = (id) => recorder.add({ what: 'freed', id });
  }
  servers.onEvicted = (key) => recorder.add({ what: 'evicted', key });
  network.onFault = (kind) => recorder.add({ what: 'fault', kind });
  const sideOf = async (i: number): Promise<Side> => {
    const process = new Process(`p${i}`, world, drift(), randomFrom(seed * 31 + i));
    const side = servers.connect(network, process, scene, () => recorder.called('a call to the engine'));
    const locks = create(side.backend, { clock: process.clock, ttl: 1_500, spin: { bound: 400 } });
    await load(locks);
    const own = (): Choice => new Choice(randomFrom(Math.floor(choice.random() * 1e9)));
    return new Side(process, side, () => new CrossingCaller(process, locks, own(), recorder));
  };
  const [here, there] = [await sideOf(0), await sideOf(1)];
  crew(subject, choice, here, there);
  // Somebody has to be left to find out: that is the first.
  const sides = [there, here];
  if (!scene.calm) trouble(world, choice, network, recorder, sides, BUSY);
  const over = (): boolean => here.idle && there.idle;
  await world.run(TROUBLE, recorder.see, over);
  network.heal();
  await world.run(TROUBLE + HEALED, recorder.see, over);
  await world.run(world.now + SETTLED, recorder.see);
  recorder.left(await servers.lists(), sides);
  if (!here.process.crashed) recorder.ends();
  return { subject, history: { seed, scene, events: recorder.events } };
}

function sceneOf(kind: Kind, choice: Choice): Scene {
  const waking = choice.pick(['buffered', 'watch', 'never'] as const);
  return {
    wakes: kind === 'session' ? waking : kind === 'polling' ? 'never' : kind,
    tokenBlocks: choice.chance(0.8),
    calm: choice.chance(0.5),
    wakesLost: choice.chance(0.2),
    keptBy: kind === 'session' ? 'session' : 'lease',
  };
}

/** What excludes most of the others. */
const RIVALS: readonly Primitive[] = ['write', 'all'];

/** Those who make the two features meet: in one request, in two of a process, and in two of two processes. */
function crew({ kind, primitive, one, other }: Pair, choice: Choice, here: Side, there: Side): void {
  const both = [...new Set([one, other])];
  const [first, second, third] = [here.request(), here.request(), here.request()];
  const able = (features: readonly Feature[], as: Primitive): boolean =>
    features.every((feature) => excluded(feature, as, kind) === undefined);
  const ask = (by: CrossingCaller, features: readonly Feature[], own?: Moments, as = primitive): Promise<void> => {
    const more = choice.chance(0.2) ? [choice.pick(FEATURES)] : [];
    const drawn = [...new Set([...features, ...more.filter((feature) => able([feature], as))])];
    return by.crosses(able(features, as) ? as : 'mutex', drawn, own);
  };
  const begins = async (by: CrossingCaller, features: readonly Feature[], own: Moments): Promise<void> => {
    await by.process.sleep(choice.pick([1, choice.between(1, 300)]));
    // Children come only after what is around them, of which half get nothing where somebody opposes them.
    if (own === first && both.includes('detect') && (primitive !== 'reentrant' || choice.chance(0.5))) {
      const opposed = there.request();
      there.works((rival) => rival.opposes(primitive, by.outer, opposed, first));
      await opposed.at('given');
    }
    await ask(by, features, own);
  };
  const joins = (side: Side, features: readonly Feature[], whom: Moments, own?: Moments): void =>
    side.works(async (by) => {
      await whom.at(choice.pick(['asked', 'given', 'back', 'back']));
      // In that turn, a little earlier or later in it; or in a later one.
      for (let turns = choice.whole(0, 8); turns > 0; turns--) await undefined;
      if (choice.chance(0.3)) await by.process.sleep(choice.between(1, 40));
      if (by.process.crashed) return;
      await ask(by, features, own, choice.chance(0.3) ? choice.pick(RIVALS) : primitive);
    });
  here.works((by) => begins(by, both, first));
  here.works((by) => begins(by, [one], second));
  joins(here, [other], second, third);
  joins(there, [other], first);
  joins(there, [one], third);
  choice.pick([here, there]).works(async (by) => {
    await by.process.sleep(choice.between(1, 600));
    const own: Primitive = choice.pick(PRIMITIVES);
    await by.crosses(
      own,
      FEATURES.filter((each) => excluded(each, own, kind) === undefined && choice.chance(0.1)),
    );
  });
}
