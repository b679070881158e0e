import { isIP, Socket } from 'node:net';
import { isLockError } from '../../../src/core/index.ts';
import { randomFrom } from '../../testing/random.ts';
import { MIN_DELAY_MS, type Task, type TestLock, type ToWorker } from '../events.ts';
import { Actor, type ActorContext } from './actor.ts';
import { type LockLibrary, Report, send } from './observer.ts';

/** The number of callers in one process. They share its local queue and hand over to each other. */
const ACTORS = 4;
/** How long a process waits for its first lock. */
const MAX_FIRST_WAIT_MS = 20_000;
/** A key is slow if at least this part of its holds is long. */
const SLOW_PART = 0.2;
/** How long the loop of a starved process is blocked between two short breaks. */
const PIECE_MS = 400;

interface Running {
  readonly context: ActorContext;
  readonly ended: AbortController;
  readonly working: Promise<unknown>;
}

/**
 * Runs the callers of one process until the referee ends it, or it dies.
 * @param open opens the locks of the task
 */
export function work(open: (task: Task) => Promise<LockLibrary>): void {
  let report: Report | undefined;
  let running: Promise<Running> | undefined;
  let stopped: readonly number[] = [];
  // Only the referee handles ^C of the terminal.
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
    else if ('block' in message) {
      const { context } = (await running)!;
      report?.flush();
      send({ held: context.held });
      block(message.block, message.pieces);
    } else await end(await running);
  });
}

async function begin(task: Task, report: Report, open: (task: Task) => Promise<LockLibrary>): Promise<Running> {
  if (task.links) routeAll((host, port) => report.ask({ route: { host, port } }));
  const { testLocks, ttl, seed, name, by, busy } = task;
  const locks = await open(task);
  // The first lock may cost more than the others: a store is proved before it, and connections are made.
  const first = await locks
    .mutex(`${testLocks[0]!.key}-first-${by}`)
    .acquire({ ttl, renew: false, wait: MAX_FIRST_WAIT_MS });
  await first.release();
  const context: ActorContext = { locks, ttl, report, random: randomFrom(seed), name, by, held: 0 };
  const ended = new AbortController();
  watchTimers(report);
  // Two processes want each busy key: if a fault stops one of them while it does not hold the key, the other goes on.
  const busyKey = (by: number, number: number): number => Math.floor(by / 2) * busy + number - ACTORS;
  // Only one actor takes the slow keys; otherwise all would wait for them. The others mostly take the first quick key.
  const slow = testLocks.filter(({ longPart }) => longPart >= SLOW_PART);
  const brisk = testLocks.filter(({ busy }) => busy);
  const quick = testLocks.filter(({ longPart, busy }) => longPart < SLOW_PART && !busy);
  const wanted = (number: number): readonly TestLock[] => (number === 0 ? slow : [quick[0]!, ...quick]);
  const actors = Array.from({ length: ACTORS + busy }, (_, number) => {
    // Faults hit actors that hold for long. Busy actors add many short holds.
    const isBusy = number >= ACTORS;
    return new Actor(context, isBusy ? [brisk[busyKey(by, number) % brisk.length]!] : wanted(number), number, isBusy);
  });
  return { context, ended, working: Promise.all(actors.map((actor) => actor.work(ended.signal))) };
}

const TICK_MS = 100;

/** Reports how late the timers of this process are. */
function watchTimers(report: Report): void {
  const due = performance.now() + TICK_MS;
  setTimeout(() => {
    const ms = performance.now() - due;
    if (ms >= MIN_DELAY_MS) report.add({ what: 'late', ms });
    watchTimers(report);
  }, TICK_MS).unref();
}

const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

/**
 * Blocks everything else on this thread: timers, answers, renewals. The thread sleeps, because a thread that computes would take the
 * processor from the other processes.
 */
function block(ms: number, pieces: boolean): void {
  const until = performance.now() + ms;
  const piece = (): void => {
    const remaining = until - performance.now();
    Atomics.wait(NEVER_WOKEN, 0, 0, pieces ? Math.min(remaining, PIECE_MS) : remaining);
    if (performance.now() < until) setTimeout(piece, 1);
  };
  piece();
}

async function end(running: Running | undefined): Promise<void> {
  if (running) {
    running.ended.abort();
    await running.working;
    // An engine that cannot be reached is no crash: a connection that a fault has cut may be on its way back.
    await running.context.locks.close().catch((error) => {
      if (!isLockError(error, 'LOCK_UNAVAILABLE')) throw error;
    });
  }
  process.disconnect();
  process.exit(0);
}

function wake(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    // That process is gone, too.
  }
}

/** Gives the port on this machine whose proxy leads to the server. */
type Route = (host: string, port: number) => Promise<number>;

interface Target {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
}

/**
 * Leads every TCP connection of this process through a proxy on this machine, no matter what opens it: a driver, HTTP/2, TLS.
 * The proxy works below TLS, so the server's certificates still match. A changed URL would not be enough: in a Redis Cluster,
 * servers name other servers.
 */
function routeAll(route: Route): void {
  const ports = new Map<string, number>();
  const { connect } = Socket.prototype as { connect: (...args: unknown[]) => Socket };
  const connectThrough = function (this: Socket & { connecting: boolean }, ...args: unknown[]): Socket {
    // Node itself passes one array: the options and the callback.
    const [first, then] = (Array.isArray(args[0]) ? args[0] : args) as [Target, (() => void) | null | undefined];
    const given: Target = typeof first === 'number' ? { port: first } : first;
    if (given.port === undefined || given.path) return connect.apply(this, args);
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
