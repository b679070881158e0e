import { constants } from 'node:os';
import { heeded } from './child/inherited.ts';

const NAMES = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Hears ^C and its like, for as long as it is used: a wait ends, and what was taken is given back. */
export class Interruption implements Disposable {
  readonly #ended = new AbortController();
  readonly #end = (name: NodeJS.Signals): void => this.#ended.abort(name);

  constructor() {
    for (const name of heeded(NAMES)) process.on(name, this.#end);
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** As a process has it that the signal ended; undefined where none came. */
  get exitCode(): number | undefined {
    const { aborted, reason } = this.signal;
    return aborted ? 128 + constants.signals[reason as NodeJS.Signals] : undefined;
  }

  [Symbol.dispose](): void {
    for (const name of NAMES) process.off(name, this.#end);
  }
}
