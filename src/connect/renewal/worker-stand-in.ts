import { Worker } from 'node:worker_threads';
import {
  type Cancel,
  type Cover,
  type Handle,
  isLockError,
  LockError,
  type LockErrorCode,
  type Schedule,
  type StandIn,
  systemClock,
  withLimit,
} from '../../core/index.ts';
import { Conversion, CoverTable } from './cover-table.ts';
import { Control, type Failure, type FromWorker, sharedClock, type Task, type ToWorker } from './table.ts';

const MAX_BEAT_MS = 1_000;
/** The smallest number of beats in the time of a stall. */
const BEATS_PER_STALL = 8;
/** How long a thread may take to start and to connect, ms. */
const MAX_START_MS = 20_000;
/** How long a thread may take to end by itself, ms. */
const MAX_END_MS = 2_000;
/** The pause before another thread takes the place of one that died, ms. */
const RESTART_PAUSE_MS = 1_000;

/** A stand-in that is a thread of this process with a connection of its own. A thread that dies is replaced. */
export class WorkerStandIn implements StandIn {
  readonly #task: Task & { readonly segments: SharedArrayBuffer[] };
  readonly #control = new Control();
  readonly #table: CoverTable;
  readonly #conversion: Conversion;
  readonly #beat: number;
  #worker: Worker | undefined;
  #cancelBeat: Cancel = () => {};
  #cancelStart: Cancel = () => {};
  #ended = false;

  private constructor(url: Task['url'], stall: number) {
    const origin = process.hrtime.bigint();
    this.#beat = Math.min(MAX_BEAT_MS, stall / BEATS_PER_STALL);
    // One beat is added: the main thread may have run until just before a beat, and the worker counts from the beat before that.
    this.#task = { url, stall: stall + this.#beat, origin, control: this.#control.memory, segments: [] };
    this.#conversion = new Conversion(systemClock, sharedClock(origin));
    this.#table = new CoverTable(this.#conversion, ({ memory }) => {
      this.#task.segments.push(memory);
      this.#say({ segment: memory });
    });
  }

  /**
   * Resolves when the thread has reached the engine.
   * @throws LockError as `connect` does
   */
  static async begin(url: Task['url'], stall: number): Promise<WorkerStandIn> {
    const standIn = new WorkerStandIn(url, stall);
    try {
      await standIn.#start();
    } catch (error) {
      await standIn.end();
      throw error;
    }
    standIn.#beatOn();
    return standIn;
  }

  cover(handle: Handle, schedule: Schedule): Cover | undefined {
    const cover = this.#table.take(handle, schedule);
    if (schedule.interval < this.#control.patience) this.#say({ look: true });
    return cover;
  }

  async end(): Promise<void> {
    this.#ended = true;
    this.#cancelBeat();
    this.#cancelStart();
    const worker = this.#worker;
    if (!worker) return;
    worker.ref();
    const exit = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    this.#say({ end: true });
    await withLimit(exit, MAX_END_MS, () => new Error('late'), systemClock).catch(() => worker.terminate());
  }

  #say(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  #beatOn(): void {
    this.#control.beat();
    this.#conversion.look();
    this.#cancelBeat = systemClock.after(this.#beat, () => this.#beatOn(), true);
  }

  async #start(): Promise<void> {
    const worker = threadOf(this.#task);
    this.#worker = worker;
    const started = new Promise<void>((resolve, reject) => {
      worker.on('message', (message: FromWorker) => {
        if ('ready' in message) resolve();
        else reject(errorOf(message.failed));
      });
      worker.on('error', (error) => reject(startError(error)));
      worker.on('exit', () => {
        reject(startError(new Error('it ended')));
        this.#onExit(worker);
      });
    });
    await withLimit(started, MAX_START_MS, () => startError(new Error(`not within ${MAX_START_MS} ms`)), systemClock);
    worker.unref();
  }

  /** Until another thread has started, only the main thread renews. */
  #onExit(worker?: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#cancelStart();
    if (this.#ended) return;
    // Without a thread, no exit would tell of this failure: the system refused to make one.
    const restart = () => this.#start().catch((): unknown => this.#worker?.terminate() ?? this.#onExit());
    this.#cancelStart = systemClock.after(RESTART_PAUSE_MS, restart, true);
  }
}

function threadOf(workerData: Task): Worker {
  // With the flag `--input-type` (a program given as text), Node refuses to run a file, so the thread gets no flags. Otherwise the thread
  // inherits the flags that are for threads. They cannot be given as `execArgv`: Node refuses flags of V8 and of the process there.
  const isText = process.execArgv.some((arg) => arg.startsWith('--input-type'));
  const execArgv = isText ? [] : undefined;
  try {
    // webpack and Turbopack know this form of the expression, and bundle the file.
    return new Worker(new URL('./worker.ts', import.meta.url), { workerData, execArgv, name: 'holdfast renewal' });
  } catch (error) {
    throw startError(error as Error);
  }
}

const causeOf = ({ code, message, cause }: Failure): Error =>
  Object.assign(new Error(message, cause && { cause: causeOf(cause) }), { code });

function errorOf(failure: Failure): LockError {
  const { code, message, cause } = failure;
  if (!/^LOCK_/.test(`${code}`)) return startError(causeOf(failure));
  return new LockError(code as LockErrorCode, message, cause && { cause: causeOf(cause) });
}

function startError(cause: Error): LockError {
  if (isLockError(cause)) return cause;
  const isForbidden = (cause as NodeJS.ErrnoException).code === 'ERR_ACCESS_DENIED'; // Node's message names the flag that allows it
  const advice = isForbidden ? '' : '. Where a bundler made the program, keep holdfast out of the bundle';
  const message = `the thread for renewal: 'worker' could not be started: ${cause.message}${advice}`;
  return new LockError('LOCK_UNSUPPORTED', message, { cause });
}
