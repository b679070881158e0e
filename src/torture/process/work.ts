import { randomFrom } from '../../testing/random.ts';
import type { Prize, Task, ToWorker } from '../messages.ts';
import { Actor, type Scene } from './actor.ts';
import type { Doors } from './doors.ts';
import { Report, send } from './report.ts';
import { routeAll } from './route.ts';

/** Callers in one process: they meet in its local line, and hand over to each other. */
const ACTORS = 4;
/** Of the holds of a key, the long ones, for it to be a slow key. */
const SLOW = 0.2;
/** ms of a starved process between two turns of everything else in it. */
const PIECE = 400;

interface Running {
  readonly report: Report;
  readonly scene: Scene;
  readonly locks: Doors;
  readonly ended: AbortController;
  readonly working: Promise<unknown>;
}

/** A process that wants locks, until it is told to end, or dies. @param open opens the locks that the task is about */
export function work(open: (task: Task) => Promise<Doors>): void {
  let report: Report | undefined;
  let running: Promise<Running> | undefined;
  let stopped: readonly number[] = [];
  // ^C in a terminal is the referee's to hear.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
  process.on('disconnect', () => {
    for (const pid of stopped) wake(pid);
    process.exit(1);
  });
  process.on('message', async (message: ToWorker) => {
    if ('task' in message) {
      report = new Report(BigInt(message.task.origin));
      running = begin(message.task, report, open);
      running.then(
        () => send({ ready: true }),
        (error: Error) => send({ failed: error.message }),
      );
    } else if ('answer' in message) report?.answered(message.answer, message.value);
    else if ('stopped' in message) stopped = message.stopped;
    else if ('busy' in message) {
      const { scene } = (await running)!;
      send({ held: scene.held });
      busy(message.busy, message.pieces);
    } else await end(await running);
  });
}

async function begin(task: Task, report: Report, open: (task: Task) => Promise<Doors>): Promise<Running> {
  if (task.routed) routeAll((host, port) => report.ask({ route: { host, port } }));
  const { prizes, ttl, seed, name, by, busy } = task;
  const locks = await open(task);
  const scene: Scene = { locks, ttl, report, random: randomFrom(seed), name, by, held: 0 };
  const ended = new AbortController();
  // One for the keys that are held long, or all of them would wait there; and most want the first of the others.
  const slow = prizes.filter(({ long }) => long >= SLOW);
  const brisk = prizes.filter(({ as, long }) => as === 'mutex' && long === 0);
  const quick = prizes.filter(({ long }) => long < SLOW);
  const wanted = (number: number): readonly Prize[] => (number === 0 ? slow : [quick[0]!, ...quick]);
  const actors = Array.from({ length: ACTORS }, (_, number) =>
    new Actor(scene, wanted(number), number).work(ended.signal),
  );
  // Faults hit those that linger; these bring the number.
  const more = Array.from({ length: busy }, (_, number) =>
    new Actor(scene, [brisk[number % brisk.length]!], ACTORS + number, 'busy').work(ended.signal),
  );
  return { report, scene, locks, ended, working: Promise.all([...actors, ...more]) };
}

/** Everything else of this process waits: timers, answers, renewals. */
function busy(ms: number, pieces: boolean): void {
  const until = performance.now() + ms;
  const piece = (): void => {
    const end = pieces ? Math.min(until, performance.now() + PIECE) : until;
    while (performance.now() < end);
    if (performance.now() < until) setTimeout(piece, 1);
  };
  piece();
}

async function end(running: Running | undefined): Promise<void> {
  if (running) {
    running.ended.abort();
    await running.working;
    await running.locks.close();
  }
  process.disconnect();
  process.exit(0);
}

function wake(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    // It is gone, too.
  }
}
