import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { lineOf } from './exit.ts';
import { complain } from './terminal/say.ts';

/** Reports an engine that cannot be asked and is asked again. It reports the same trouble once. */
export class Trouble implements Disposable {
  readonly #channel: string;
  #told: string | undefined;
  readonly #hear = (event: unknown): void => {
    const line = lineOf((event as { readonly error?: unknown }).error);
    if (line !== this.#told) complain(`${line}. Trying again`);
    this.#told = line;
  };

  constructor(channel: `holdfast:${string}`) {
    this.#channel = channel;
    subscribe(channel, this.#hear);
  }

  /** The trouble is over: the next one is reported again. */
  over(): void {
    this.#told = undefined;
  }

  [Symbol.dispose](): void {
    unsubscribe(this.#channel, this.#hear);
  }
}
