import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError } from '../core/contract/errors.ts';
import { notIgnored } from './child/inherited.ts';
import { ExitError } from './exit.ts';

const NAMES = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Hears ^C and similar signals while somebody uses it: the wait ends, and the caller releases its lock. */
export class Interruption implements Disposable {
  readonly #ended = new AbortController();
  #came: NodeJS.Signals | undefined;
  /** Resolves when `signal` is aborted. */
  readonly ended = new Promise<undefined>((resolve) => {
    this.signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  #running = false;
  readonly #hear = (name: NodeJS.Signals): void => {
    this.#came ??= name;
    this.#end();
  };

  constructor() {
    for (const name of notIgnored(NAMES)) process.on(name, this.#hear);
  }

  /** Aborted by the first signal; while a command runs, only after its end. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** The exit code of a process that the signal ends; undefined without a signal. */
  get exitCode(): number | undefined {
    return this.#came && 128 + constants.signals[this.#came];
  }

  /**
   * The exit code of an end that needs no message: that of the command, or that of the signal that ended the wait.
   * @throws the error itself, if it is another
   */
  exitCodeAfter(error: unknown): number {
    if (error instanceof ExitError) return error.exitCode;
    if (isLockError(error, 'LOCK_ABORTED') && this.exitCode !== undefined) return this.exitCode;
    throw error;
  }

  /** Signals are the command's own to handle while it runs (child/signals.ts). */
  async during<T>(command: () => Promise<T>): Promise<T> {
    this.#running = true;
    try {
      return await command();
    } finally {
      this.#running = false;
      if (this.#came) this.#end();
    }
  }

  /** Waits for so many ms, or for a signal. */
  async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.signal }).catch(() => {});
  }

  #end(): void {
    if (!this.#running) this.#ended.abort(this.#came);
  }

  [Symbol.dispose](): void {
    for (const name of NAMES) process.off(name, this.#hear);
  }
}
