import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { messageOf } from './exit.ts';
import { complain } from './terminal/screen.ts';

/** Reports an engine that cannot be asked and is asked again. It reports the same trouble once. */
export class Trouble implements Disposable {
  readonly #channel: string | undefined;
  #told: string | undefined;
  readonly #hear = (event: unknown): void => this.tell((event as { readonly error?: unknown }).error);

  /** @param channel of the events that tell of it, if any do */
  constructor(channel?: `holdfast:${string}`) {
    this.#channel = channel;
    if (channel) subscribe(channel, this.#hear);
  }

  readonly tell = (error: unknown): void => {
    const line = messageOf(error);
    if (line !== this.#told) complain(`${line}. Trying again`);
    this.#told = line;
  };

  /** The trouble is over: the next one is reported again. */
  over(): void {
    this.#told = undefined;
  }

  [Symbol.dispose](): void {
    if (this.#channel) unsubscribe(this.#channel, this.#hear);
  }
}
