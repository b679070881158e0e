import { randomFrom } from '../../products/testing/random.ts';
import { quorum } from '../../src/backends/quorum/index.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import type { Clock } from '../../src/core/contract/clock.ts';
import type { createLocks } from '../../src/locks.ts';
import type { Event, History, Served } from '../simulation/history.ts';
import type { MemoHistory } from '../simulation/memo/history.ts';
import { MemoRecorder } from '../simulation/memo/recorder.ts';
import { load } from '../simulation/memo/simulate.ts';
import { Process } from '../simulation/process.ts';
import { Recorder } from '../simulation/recorder.ts';
import { Servers } from '../simulation/servers.ts';
import { Actor } from './actor.ts';
import type { Choose } from './moves.ts';
import { ChosenNetwork } from './network.ts';
import type { Plot } from './plots.ts';
import { type Bounds, Stage } from './stage.ts';

/** Clocks go wrong by as much as they may, in the direction that hurts: the server's is quick, and those of holders are slow. */
const DRIFT = 0.004_9;
const QUICK = 1 + DRIFT;
const SLOW = 1 - DRIFT;
/** Virtual ms for everything to end after the last fault, and for what is left to expire. */
const HEALED = 40_000;

export interface Played {
  readonly history: History;
  readonly memos: MemoHistory;
  /** What was chosen, move by move. */
  readonly schedule: readonly string[];
  /** False where another schedule does the same in another order. */
  readonly complete: boolean;
}

/** What a run may have that is not the plot's. */
export interface Cast {
  readonly create: typeof createLocks;
  /** What makes one engine of several. Default: the quorum. */
  readonly join?: typeof quorum;
  /** What a server runs, and where it tells what it did. Default: the memory backend, which tells nothing. */
  readonly serve?: (clock: Clock, tell: (served: Served) => void) => Backend;
  /** Asked before each choice; false ends the run. */
  readonly follow?: (events: readonly Event[]) => boolean;
}

/** One run of a plot, in which everything that could happen in more than one way was chosen. */
export async function play(
  plot: Plot,
  bounds: Omit<Bounds, 'horizon'>,
  { create, join = quorum, serve, follow = () => true }: Cast,
  choose: Choose,
): Promise<Played> {
  const { clients, nodes = 1, wakes = 'watch', horizon = 1_200 } = plot;
  const over = new Set<string>();
  const stage: Stage = new Stage({ ...bounds, horizon }, () =>
    sides.every(({ process }) => process.crashed || over.has(process.name)),
  );
  const machines = Array.from({ length: nodes }, (_, i) => new Process(`s${i}`, stage, QUICK, randomFrom(100 + i)));
  const told = (node: number) => (served: Served) => recorder.add({ what: 'served', node, ...served });
  const servers = new Servers(machines, join, serve && ((node) => (clock) => serve(clock, told(node))));
  const scene = { wakes, tokenBlocks: true, calm: false, wakesLost: false, keptBy: plot.keptBy ?? 'lease' } as const;
  using recorder: Recorder = new Recorder(stage, servers.evicted);
  servers.onEvicted = (key) => recorder.add({ what: 'evicted', key });
  const memos = new MemoRecorder(stage);
  const network = new ChosenNetwork(stage);
  const sides = Array.from({ length: clients }, (_, i) => {
    const process = new Process(`p${i}`, stage, i === 0 ? SLOW : QUICK, randomFrom(i + 1));
    stage.join(process);
    const called = (): void => recorder.called('a call to the engine');
    const { backend, watches, crashed } = servers.connect(network, process, scene, called);
    const locks = create(backend, { clock: process.clock, ttl: 300, spin: { bound: 400 } });
    return { process, watches, crashed, locks };
  });
  stage.onFault = (kind, process) => recorder.add({ what: 'fault', kind: `${kind} ${process.name}` });
  stage.onCrash = (process) => {
    sides.find((side) => side.process === process)!.crashed();
    recorder.add({ what: 'crashed', by: process.name });
    memos.add({ what: 'crashed', by: process.name });
  };
  if (plot.memos) for (const { locks } of sides) await load(locks);
  for (const [i, { process, locks }] of sides.entries()) {
    const actor = new Actor(process, locks, recorder, memos, stage);
    void plot.act(actor, i).then(() => over.add(process.name));
  }
  const see = async (): Promise<void> => {
    recorder.see();
    memos.see();
    if (nodes > 1 && recorder.anybodyBelieves) recorder.lookAt(await servers.lists());
  };
  const complete = await stage.play((moves) => (follow(recorder.events) ? choose(moves) : undefined), see);
  if (complete) {
    await stage.end(stage.now + HEALED, see);
    recorder.left(await servers.lists(), sides);
  }
  const ofMemos = { keeps: true, attempts: Number.POSITIVE_INFINITY, refreshes: false, forgets: false, ...plot.memos };
  return {
    history: { seed: 0, scene, events: recorder.events },
    memos: { seed: 0, scene: { ...scene, ...ofMemos }, events: memos.events },
    schedule: stage.schedule,
    complete,
  };
}
