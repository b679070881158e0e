import { randomFrom } from '../../products/testing/random.ts';
import { quorum } from '../../src/backends/quorum/index.ts';
import { LockError } from '../../src/core/contract/errors.ts';
import type { createLocks, Locks } from '../../src/locks.ts';
import { Choice } from './choice.ts';
import type { History, Scene } from './history.ts';
import { CALM, Network, type Weather } from './network.ts';
import { Process, workDone } from './process.ts';
import { Recorder } from './recorder.ts';
import { Servers } from './servers.ts';
import { Caller, LONGEST_TTL, type Manners } from './workload.ts';
import { World } from './world.ts';

/** The bound of how wrong a clock's rate is, either way: two of them stay within the hundredth that a deadline allows for. */
export const DRIFT = 0.004_9;
/** True ms of trouble, and for everything to end after it. */
export const TROUBLE = 6_000;
export const HEALED = 120_000;
/** After the end: whatever was unknown is undone or has expired. */
const SETTLED = LONGEST_TTL + 20_000;

/**
 * A whole run from one seed.
 * @param create the face of the library, sound or with a planted bug
 * @param nodes how many engines there are: over more than one, a majority decides
 * @param join makes one of them, sound or with a planted bug
 */
export async function simulate(
  seed: number,
  create: typeof createLocks,
  nodes = 1,
  join: typeof quorum = quorum,
): Promise<History> {
  const choice = new Choice(randomFrom(seed));
  const world = new World();
  const drift = (): number => 1 + choice.between(-DRIFT, DRIFT);
  const servers = new Servers(
    Array.from({ length: nodes }, (_, i) => new Process(`engine ${i}`, world, drift(), choice.random)),
    join,
  );
  const scene = sceneOf(choice, nodes);
  const network = new Network(world, choice, weatherOf(scene, choice));
  using recorder = new Recorder(world, servers.evicted);
  for (const engine of servers.engines) {
    engine.onAdmitted = (id) => recorder.add({ what: 'admitted', id });
    engine.onFreed = (id) => recorder.add({ what: 'freed', id });
  }
  servers.onEvicted = (key) => recorder.add({ what: 'evicted', key });
  network.onFault = (kind) => recorder.add({ what: 'fault', kind });

  const manners: Manners = {
    gentle: scene.calm,
    keys: choice.whole(1, 2),
    several: nodes > 1,
    adaptive: nodes === 1 && scene.keptBy === 'lease',
    lingers: !scene.calm && seed % 4 === 3,
  };
  const work: Promise<void>[] = [];
  const sides = Array.from({ length: choice.whole(2, 4) }, (_, i) => {
    const process = new Process(`p${i}`, world, drift(), randomFrom(seed * 31 + i));
    const { backend, watches, crashed } = servers.connect(network, process, scene, () =>
      recorder.called('a call to the engine'),
    );
    const locks = create(backend, { clock: process.clock, ttl: 1_500, spin: { bound: 400 } });
    for (let callers = choice.whole(1, 4); callers > 0; callers--) {
      const own = new Choice(randomFrom(seed * 997 + work.length));
      work.push(new Caller(process, locks, own, recorder, manners).works(choice.whole(2, 6)));
    }
    return { process, watches, crashed, locks, work: Promise.all(work.splice(0)) };
  });
  if (!scene.calm) trouble(world, choice, network, recorder, sides);
  if (!scene.calm && nodes > 1) hangs(world, choice, recorder, servers);
  // Choices of their own: a seed without restarts has the history that it had before there were any.
  const restarts = !scene.calm && nodes > 1 && seed % 3 === 0;
  if (restarts) serversRestart(world, new Choice(randomFrom(seed * 7_919)), recorder, servers);

  const see = async (): Promise<void> => {
    recorder.see();
    // A server that restarted has forgotten its votes, and counts again only when they are over.
    if (nodes > 1 && !restarts && recorder.anybodyBelieves) recorder.lookAt(await servers.lists());
  };
  const done = workDone(sides);
  await world.run(TROUBLE, see);
  network.heal();
  await world.run(TROUBLE + HEALED, see, done);
  await world.run(world.now + SETTLED, see);
  recorder.left(await servers.lists(), sides);
  return { seed, scene, events: recorder.events };
}

function sceneOf(choice: Choice, nodes: number): Scene {
  return {
    wakes: choice.pick(['buffered', 'buffered', 'watch', 'never']),
    tokenBlocks: choice.chance(0.8),
    calm: choice.chance(0.25),
    wakesLost: choice.chance(0.4),
    keptBy: choice.chance(0.2) && nodes === 1 ? 'session' : 'lease',
  };
}

export function weatherOf({ calm, wakesLost }: Pick<Scene, 'calm' | 'wakesLost'>, choice: Choice): Weather {
  const loseWake = wakesLost ? 0.5 : 0;
  if (calm) return { ...CALM, loseWake };
  const loss = choice.pick([0, 0.01, 0.08]);
  const [slow, late] = choice.pick([
    [0, 0],
    [0.05, 300],
    [0.05, 2_500],
    [0.02, 8_000],
  ] as const);
  const breaks = choice.pick([0, 0.05]);
  return { loseRequest: loss, loseReply: loss, loseWake, breaks, slow, late, delay: choice.pick([2, 10, 40]) };
}

/** As what an engine that cannot do its work just now tells it: for sure, or not. */
const REFUSALS = [
  () => new LockError('LOCK_UNAVAILABLE', 'the engine cannot save its data'),
  () => new Error('the engine is being moved'),
];

interface Side {
  readonly process: Process;
  readonly crashed: () => void;
  readonly locks: Pick<Locks, 'close'>;
}

/** What trouble tells, and what it wants to know. */
interface Chronicle {
  holds(process: Process): boolean;
  add(event: { what: 'fault'; kind: string } | { what: 'crashed'; by: string }): void;
}

/** Pauses, cuts and crashes at any time until then; and closing, which is no trouble of others. */
export function trouble(
  world: World,
  choice: Choice,
  network: Network,
  recorder: Chronicle,
  sides: readonly Side[],
  until: number = TROUBLE,
): void {
  for (let faults = choice.whole(0, 6); faults > 0; faults--) {
    const { process, crashed, locks } = choice.pick(sides);
    const ms = choice.pick([50, 400, 1_000, 2_500, 7_000]) * choice.between(0.5, 1.5);
    const kind = choice.pick(['pause', 'pause', 'cut', 'crash', 'close', 'refuse'] as const);
    world.at(choice.between(0, until), () => {
      if (process.crashed) return;
      const holding = recorder.holds(process) ? ' of a holder' : '';
      recorder.add({ what: 'fault', kind: `${kind}${holding}` });
      if (kind === 'pause' && choice.chance(0.5)) process.pause(ms);
      // In the worst moment: a request is on its way.
      else if (kind === 'pause') network.onCall(process, () => process.pause(ms));
      else if (kind === 'cut') network.cut(process, ms);
      else if (kind === 'close') void locks.close();
      else if (kind === 'refuse') network.refuse(ms, choice.pick(REFUSALS));
      // Somebody has to be left to find out.
      else if (process !== sides[0]!.process) {
        process.crash();
        crashed();
        recorder.add({ what: 'crashed', by: process.name });
      }
    });
  }
}

/** Servers that stand still for a while: each for itself, or all about as long as a request may take, one after the other. */
function hangs(world: World, choice: Choice, recorder: Recorder, { engines }: Servers): void {
  const hang = (machine: Process, at: number, ms: number): void => {
    world.at(at, () => {
      recorder.add({ what: 'fault', kind: 'hang' });
      machine.pause(ms);
    });
  };
  for (let faults = choice.whole(1, 12); faults > 0; faults--) {
    const at = choice.between(0, TROUBLE);
    if (choice.chance(0.3))
      hang(choice.pick(engines).machine, at, choice.pick([300, 600, 2_500]) * choice.between(0.5, 1.5));
    else for (const { machine } of engines) hang(machine, at + choice.between(0, 200), choice.between(50, 250));
  }
}

/** Servers that start again without their data, one after the other or nearly at once. */
function serversRestart(world: World, choice: Choice, recorder: Recorder, { engines }: Servers): void {
  for (let faults = choice.whole(1, 6); faults > 0; faults--) {
    world.at(choice.between(0, TROUBLE), () => {
      const engine = choice.pick(engines);
      const restart = (): void => {
        recorder.add({ what: 'fault', kind: 'restart' });
        engine.restart(BigInt(Math.ceil(world.now * 1_000)));
      };
      const moment = choice.pick(['attempt', 'renewal', 'note', 'any'] as const);
      if (moment === 'any') restart();
      else engine.onServed = { what: moment, next: restart };
    });
  }
}
