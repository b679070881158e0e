import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError } from '../../src/core/index.ts';
import { notIgnored } from './child/inherited.ts';
import { ExitError, messageOf } from './exit.ts';
import { complain } from './terminal/screen.ts';

const NAMES = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Takes ^C and similar signals while it is in use: the wait ends, and the caller releases its lock. */
export class Interruption implements Disposable {
  readonly #ended = new AbortController();
  #came: NodeJS.Signals | undefined;
  /** Resolves when `signal` is aborted. */
  readonly ended = new Promise<undefined>((resolve) => {
    this.signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  #running = false;
  readonly #onEvent = (name: NodeJS.Signals): void => {
    this.#came ??= name;
    this.#end();
  };

  constructor() {
    for (const name of notIgnored(NAMES)) process.on(name, this.#onEvent);
  }

  /** The first ^C or similar aborts it; while a command runs, only after the command's end. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** The exit code of a process that the signal ends; undefined without a signal. */
  get exitCode(): number | undefined {
    return this.#came && 128 + constants.signals[this.#came];
  }

  /**
   * The exit code after an error that needs no message: the code of the command, or of the signal that ended the wait.
   * @throws any other error
   */
  exitCodeAfter(error: unknown): number {
    if (error instanceof ExitError) return error.exitCode;
    if (isLockError(error, 'LOCK_ABORTED') && this.exitCode !== undefined) return this.exitCode;
    throw error;
  }

  /** While the command runs, signals are passed to it (child/supervise.ts), and do not abort `signal`. */
  async during<T>(command: () => Promise<T>): Promise<T> {
    this.#running = true;
    try {
      return await command();
    } finally {
      this.#running = false;
      if (this.#came) this.#end();
    }
  }

  async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.signal }).catch(() => {});
  }

  #end(): void {
    if (!this.#running) this.#ended.abort(this.#came);
  }

  [Symbol.dispose](): void {
    for (const name of NAMES) process.off(name, this.#onEvent);
  }
}

/** Reports that the engine did not answer and that we ask again. It reports the same trouble once. */
export class Trouble implements Disposable {
  readonly #channel: string | undefined;
  #reported: string | undefined;
  readonly #onEvent = (event: unknown): void => this.report((event as { readonly error?: unknown }).error);

  /** @param channel has the events that report the trouble, if there are any */
  constructor(channel?: `holdfast:${string}`) {
    this.#channel = channel;
    if (channel) subscribe(channel, this.#onEvent);
  }

  readonly report = (error: unknown): void => {
    const line = messageOf(error);
    if (line !== this.#reported) complain(`${line}. Trying again`);
    this.#reported = line;
  };

  /** The trouble is over: the next one is reported again. */
  over(): void {
    this.#reported = undefined;
  }

  [Symbol.dispose](): void {
    if (this.#channel) unsubscribe(this.#channel, this.#onEvent);
  }
}
