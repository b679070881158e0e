import { isIP, Socket } from 'node:net';
import { randomFrom } from '../../testing/random.ts';
import type { Task, TestLock, ToWorker } from '../events.ts';
import { Actor, type ActorContext } from './actor.ts';
import { type LockLibrary, Report, send } from './observer.ts';

/** Callers in one process: they share its local queue and hand over to each other. */
const ACTORS = 4;
/** A key is slow if this part of its holds is long. */
const SLOW_PART = 0.2;
/** How long a starved process computes before anything else may run. */
const PIECE_MS = 400;

interface Running {
  readonly context: ActorContext;
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
  if (task.links) routeAll((host, port) => report.ask({ route: { host, port } }));
  const { testLocks, ttl, seed, name, by, busy } = task;
  const locks = await open(task);
  const context: ActorContext = { locks, ttl, report, random: randomFrom(seed), name, by, held: 0 };
  const ended = new AbortController();
  // One actor takes the slow keys, or all would wait there. The others mostly take the first of the quick keys.
  const slow = testLocks.filter(({ longPart }) => longPart >= SLOW_PART);
  const brisk = testLocks.filter(({ kind, longPart }) => kind === 'mutex' && longPart === 0);
  const quick = testLocks.filter(({ longPart }) => longPart < SLOW_PART);
  const wanted = (number: number): readonly TestLock[] => (number === 0 ? slow : [quick[0]!, ...quick]);
  const actors = Array.from({ length: ACTORS + busy }, (_, number) => {
    // Faults hit actors that hold for long; the busy ones add many short holds.
    const isBusy = number >= ACTORS;
    return new Actor(context, isBusy ? [brisk[number % brisk.length]!] : wanted(number), number, isBusy);
  });
  return { context, ended, working: Promise.all(actors.map((actor) => actor.work(ended.signal))) };
}

/** Blocks everything else in this process: timers, answers, renewals. */
function busy(ms: number, pieces: boolean): void {
  const until = performance.now() + ms;
  const piece = (): void => {
    const end = pieces ? Math.min(until, performance.now() + PIECE_MS) : until;
    while (performance.now() < end);
    if (performance.now() < until) setTimeout(piece, 1);
  };
  piece();
}

async function end(running: Running | undefined): Promise<void> {
  if (running) {
    running.ended.abort();
    await running.working;
    await running.context.locks.close();
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

/** Gives the port on this machine that leads to a server. */
type Route = (host: string, port: number) => Promise<number>;

interface Target {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
}

/**
 * Leads every TCP connection of this process through a port on this machine, for every opener: a driver, HTTP/2, TLS. It works
 * below TLS, so the server's certificates still match. It also reaches servers that only other servers name, as in a Redis
 * Cluster, where a changed URL would not help.
 */
function routeAll(route: Route): void {
  const ports = new Map<string, number>();
  const { connect } = Socket.prototype as { connect: (...args: unknown[]) => Socket };
  const connectThrough = function (this: Socket & { connecting: boolean }, ...args: unknown[]): Socket {
    // Node itself passes a list: the options, and the callback.
    const [first, then] = (Array.isArray(args[0]) ? args[0] : args) as [Target, (() => void) | null | undefined];
    const given: Target = typeof first === 'number' ? { port: first } : first;
    if (given.port === undefined || given.path !== undefined) return connect.apply(this, args);
    const { host = 'localhost', port } = given;
    const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
    const go = (to: number): Socket => connect.call(this, { ...given, host: '127.0.0.1', port: to }, then);
    const known = ports.get(target);
    if (known !== undefined) return go(known);
    this.connecting = true; // writes wait until the connection is there
    route(host, Number(port)).then(
      (to) => {
        ports.set(target, to);
        if (!this.destroyed) go(to);
      },
      (error: Error) => this.destroy(error),
    );
    return this;
  };
  Object.assign(Socket.prototype, { connect: connectThrough });
}
