import { randomFrom } from '../../../products/testing/random.ts';
import { register } from '../../../src/backends/register/index.ts';
import type { createLocks } from '../../../src/locks.ts';
import { Choice } from '../choice.ts';
import type { History, Scene } from '../history.ts';
import { Network } from '../network.ts';
import { Process, workDone } from '../process.ts';
import { Recorder } from '../recorder.ts';
import { DRIFT, HEALED, TROUBLE, trouble, weatherOf } from '../simulate.ts';
import { Caller, type Manners } from '../workload.ts';
import { World } from '../world.ts';
import { StoreMachine } from './store.ts';

/** A run over a register. */
export interface RegisterHistory extends History {
  /** What a document said that cannot be. */
  readonly wrong: readonly string[];
  /** How often what was dead was taken out by who had not watched it for so long alone. */
  readonly sums: number;
}

/** Visitors come one after the other, in several lanes: those of one lane never meet. */
const LANES = 3;

/**
 * A whole run from one seed: processes that stay, which may die, and processes that come, wait for less than a lease, and go.
 * @param create the face of the library, and @param make the engine, sound or with a planted bug
 */
export async function simulateRegister(
  seed: number,
  create: typeof createLocks,
  make: typeof register = register,
): Promise<RegisterHistory> {
  const choice = new Choice(randomFrom(seed));
  const world = new World();
  const drift = (): number => 1 + choice.between(-DRIFT, DRIFT);
  const store = new StoreMachine(new Process('store', world, drift(), choice.random), world);
  const scene: Scene = {
    wakes: choice.pick(['watch', 'never']),
    tokenBlocks: true,
    calm: choice.chance(0.2),
    wakesLost: choice.chance(0.4),
    keptBy: 'lease',
  };
  const network = new Network(world, choice, weatherOf(scene, choice));
  using recorder = new Recorder(world, new Set());
  network.onFault = (kind) => recorder.add({ what: 'fault', kind });
  const manners: Manners = { gentle: true, keys: 1, several: true, adaptive: false, lingers: false };

  const open = (name: string, number: number) => {
    const process = new Process(name, world, drift(), randomFrom(seed * 31 + number));
    const reached = store.reachedBy(process, network, scene.wakes === 'watch');
    const backend = make(reached, { clock: process.clock });
    const locks = create(backend, { clock: process.clock, ttl: 1_500, spin: { bound: 400 } });
    const own = new Choice(randomFrom(seed * 997 + number));
    return { process, locks, watches: reached.open, crashed: () => {}, own };
  };
  const residents = Array.from({ length: choice.whole(2, 4) }, (_, number) => {
    const side = open(`p${number}`, number);
    const work = new Caller(side.process, side.locks, side.own, recorder, manners).works(side.own.whole(3, 8));
    return { ...side, work };
  });
  if (!scene.calm) {
    trouble(world, choice, network, recorder, residents);
    dies(world, recorder, residents.at(-1)!.process, choice.between(0, TROUBLE));
  }

  let visitors = 0;
  const visits = async (lane: Process): Promise<void> => {
    while (world.now < TROUBLE * 1.5) {
      const number = 100 + visitors++;
      const { process, locks, own } = open(`visitor ${number}`, number);
      await recorder.op(process.name, 'a visit', async () => {
        const lock = own.chance(0.8) ? locks.mutex('a') : locks.rwLock('a').read;
        const lease = await lock.acquire({ ttl: 1_500, wait: own.between(1, 500) });
        recorder.given(process, lease);
        await process.sleep(own.between(0, 100));
        recorder.back(lease);
        await lease.release();
      });
      await locks.close();
      await lane.sleep(own.chance(0.5) ? 1 : own.between(0, 300));
    }
  };
  const lanes = Array.from({ length: LANES }, (_, lane) =>
    visits(new Process(`lane ${lane}`, world, 1, randomFrom(lane))),
  );

  const done = workDone([...residents, ...lanes.map((work) => ({ work, process: { crashed: false } }))]);
  await world.run(TROUBLE, recorder.see);
  network.heal();
  await world.run(TROUBLE + HEALED, recorder.see, done);
  await world.run(world.now + 20_000, recorder.see);
  // What the dead left stays in the documents until somebody comes: only what the living have open counts.
  recorder.left([], residents);
  return { seed, scene, events: recorder.events, wrong: store.wrong, sums: store.sums };
}

/** The process ends as soon as it holds something after that time. */
function dies(world: World, recorder: Recorder, process: Process, from: number): void {
  world.at(from, () => {
    if (process.crashed || world.now > TROUBLE) return;
    if (!recorder.holds(process)) return dies(world, recorder, process, world.now + 5);
    recorder.add({ what: 'fault', kind: 'crash of a holder' });
    process.crash();
    recorder.add({ what: 'crashed', by: process.name });
  });
}
