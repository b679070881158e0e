import { randomFrom } from '../../testing/random.ts';
import type { Task, TestLock, ToWorker } from '../messages.ts';
import { Actor, type ActorContext } from './actor.ts';
import type { LockLibrary } from './lock-library.ts';
import { Report, send } from './report.ts';
import { routeAll } from './route.ts';

/** Callers in one process: they share its local line and hand over to each other. */
const ACTORS = 4;
/** A key is slow if this part of its holds is long. */
const SLOW = 0.2;
/** How long a starved process computes before anything else may run, ms. */
const PIECE = 400;

interface Running {
  readonly report: Report;
  readonly context: ActorContext;
  readonly locks: LockLibrary;
  readonly ended: AbortController;
  readonly working: Promise<unknown>;
}

/**
 * Runs the callers of one process until it is told to end, or dies.
 * @param open opens the locks of the task
 */
export function work(open: (task: Task) => Promise<LockLibrary>): void {
  let report: Report | undefined;
  let running: Promise<Running> | undefined;
  let stopped: readonly number[] = [];
  // The referee handles ^C of the terminal.
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
    } else if ('answer' in message) report?.resolveAnswer(message.answer, message.value);
    else if ('stopped' in message) stopped = message.stopped;
    else if ('busy' in message) {
      const { context } = (await running)!;
      send({ held: context.held });
      busy(message.busy, message.pieces);
    } else await end(await running);
  });
}

async function begin(task: Task, report: Report, open: (task: Task) => Promise<LockLibrary>): Promise<Running> {
  if (task.routed) routeAll((host, port) => report.ask({ route: { host, port } }));
  const { testLocks, ttl, seed, name, by, busy } = task;
  const locks = await open(task);
  const context: ActorContext = { locks, ttl, report, random: randomFrom(seed), name, by, held: 0 };
  const ended = new AbortController();
  // One actor takes the slow keys, or all would wait there. The others mostly take the first of the quick keys.
  const slow = testLocks.filter(({ longPart }) => longPart >= SLOW);
  const brisk = testLocks.filter(({ kind, longPart }) => kind === 'mutex' && longPart === 0);
  const quick = testLocks.filter(({ longPart }) => longPart < SLOW);
  const wanted = (number: number): readonly TestLock[] => (number === 0 ? slow : [quick[0]!, ...quick]);
  const actors = Array.from({ length: ACTORS }, (_, number) =>
    new Actor(context, wanted(number), number).work(ended.signal),
  );
  // Faults hit actors that hold for long; these actors add many short holds.
  const more = Array.from({ length: busy }, (_, number) =>
    new Actor(context, [brisk[number % brisk.length]!], ACTORS + number, 'busy').work(ended.signal),
  );
  return { report, context, locks, ended, working: Promise.all([...actors, ...more]) };
}

/** Blocks everything else in this process: timers, answers, renewals. */
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
    // The process is gone, too.
  }
}
