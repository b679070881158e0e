import { Interruption } from './interruption.ts';

/**
 * ^C and its like end a wait. Once a command runs they are the command's own to handle (child/signals.ts), and end nothing here
 * before it has ended.
 */
export class Waiting implements Disposable {
  readonly #interruption = new Interruption();
  readonly #ended = new AbortController();
  #running = false;

  constructor() {
    this.#interruption.signal.addEventListener('abort', () => this.#end());
  }

  /** Ends the wait. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** As a process has it that the signal ended; undefined where none came. */
  get exitCode(): number | undefined {
    return this.#interruption.exitCode;
  }

  /** The wait is over for as long as the command runs. */
  async during<T>(command: () => Promise<T>): Promise<T> {
    this.#running = true;
    try {
      return await command();
    } finally {
      this.#running = false;
      if (this.exitCode !== undefined) this.#end();
    }
  }

  #end(): void {
    if (!this.#running) this.#ended.abort();
  }

  [Symbol.dispose](): void {
    this.#interruption[Symbol.dispose]();
  }
}
