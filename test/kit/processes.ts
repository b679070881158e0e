import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Child } from './child.ts';
import { type Folder, temporaryFolder } from './folder.ts';
import { settleWithin } from './wait.ts';
import type { Answer, Calls, FromWorker, ToWorker } from './worker.ts';

/** A worker's side of a call: what it resolves with, or throws. */
interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export interface WorkerOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Flags for Node. */
  readonly execArgv?: readonly string[];
}

/** Starts a file that calls `serve` as a process of its own, under this Node, and resolves when it serves. */
export async function startWorker<C extends Calls>(file: URL, options: WorkerOptions = {}): Promise<WorkerProcess<C>> {
  const worker = new WorkerProcess<C>(file, options);
  try {
    await worker.nextEvent('ready');
    return worker;
  } catch (error) {
    await worker.kill();
    await worker[Symbol.asyncDispose]();
    throw error;
  }
}

/** A process that answers calls. If it dies unasked, its calls fail, and so does the test that disposes of it. */
export class WorkerProcess<C extends Calls> implements AsyncDisposable {
  readonly #child: Child;
  readonly #folder: Folder = temporaryFolder();
  readonly #calls = new Map<number, Pending>();
  readonly #events: FromWorker[] = [];
  readonly #listeners = new Set<() => void>();
  #ended = false;
  #last = 0;

  /** Use `startWorker`. */
  constructor(file: URL, { env, execArgv = [] }: WorkerOptions) {
    this.#child = new Child({
      command: process.execPath,
      args: [...execArgv, fileURLToPath(file)],
      log: join(this.#folder.path, 'log'),
      // What vitest or a user set for this Node is not meant for the worker.
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      ipc: true,
    });
    this.#child.process.on('message', (message: FromWorker | Answer) => {
      if ('id' in message) this.#settle(message);
      else this.#events.push(message);
      this.#notify();
    });
    void this.#child.exited.then(() => {
      for (const { reject } of this.#calls.values()) reject(this.#death());
      this.#calls.clear();
      this.#notify();
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** What it printed, on both streams. */
  get output(): string {
    return this.#child.output;
  }

  /** Calls a function of the worker. Values are cloned as between threads (bigint, Map, Date… arrive as they are). */
  call<K extends keyof C & string>(name: K, ...args: Parameters<C[K]>): Promise<Awaited<ReturnType<C[K]>>> {
    return new Promise((resolve, reject) => {
      if (this.#child.end !== undefined) {
        reject(this.#death());
        return;
      }
      const id = ++this.#last;
      this.#calls.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#child.process.send({ id, name, args } satisfies ToWorker);
    });
  }

  /** The next event of this name that was not taken yet, as the worker told it with `tell`. */
  async nextEvent(event: string, within?: number): Promise<unknown> {
    let look = (): void => {};
    const next = new Promise<unknown>((resolve, reject) => {
      look = () => {
        const index = this.#events.findIndex((told) => told.event === event);
        if (index >= 0) resolve(this.#events.splice(index, 1)[0]!.value);
        else if (this.#child.end !== undefined) reject(this.#death());
        else return;
        this.#listeners.delete(look);
      };
    });
    this.#listeners.add(look);
    look();
    try {
      return await settleWithin(`worker ${this.pid} tells '${event}'`, next, within);
    } finally {
      // One that gave up must not take what comes later.
      this.#listeners.delete(look);
    }
  }

  /** SIGSTOP: it keeps what it holds and does nothing. */
  pause(): void {
    this.#child.signal('SIGSTOP');
  }

  resume(): void {
    this.#child.signal('SIGCONT');
  }

  /** kill −9. */
  async kill(): Promise<void> {
    this.#ended = true;
    await this.#child.stop('SIGKILL');
  }

  /** Sends a signal that ends it and resolves with how it ended: `ended by SIGTERM`, `ended with exit code 0`. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<string> {
    this.#ended = true;
    await this.#child.stop(signal);
    return this.#child.exited;
  }

  /** Ends it; throws if it had died before, unasked. */
  async [Symbol.asyncDispose](): Promise<void> {
    const unasked = this.#child.end !== undefined && !this.#ended;
    const death = this.#death();
    await this.kill();
    this.#folder[Symbol.dispose]();
    if (unasked) throw death;
  }

  #settle({ id, value, error }: Answer): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (error) call?.reject(Object.assign(new Error(error.message), error));
    else call?.resolve(value);
  }

  #notify(): void {
    for (const look of [...this.#listeners]) look();
  }

  #death(): Error {
    return new Error(`worker ${this.pid} ${this.#child.end ?? 'lives'}. It printed:\n${this.output}`);
  }
}
