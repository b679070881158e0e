import type { Traffic } from './command-batcher.ts';
import { ended, isReply, meaning } from './errors.ts';
import type { Port } from './port.ts';
import type { Script } from './scripts.generated.ts';

/** The server as the backend sees it. */
export class Server implements Traffic {
  commands = 0;
  readonly #port: Port;

  constructor(port: Port) {
    this.#port = port;
  }

  /** Runs a script by its hash; where the server does not know it (restart, fail-over, SCRIPT FLUSH), by its text. */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    if (this.#port.ended) return Promise.reject(ended());
    this.commands++;
    return this.#port.evalSha(script.sha1, keys, args).then(this.#answered, (error) => {
      this.commands--;
      if (!isReply(error, 'NOSCRIPT')) throw error;
      return this.#port.eval(script.text, keys, args);
    });
  }

  readonly #answered = (reply: unknown): unknown => {
    this.commands--;
    return reply;
  };

  /** A command whose keys stand before its other arguments. */
  async command(act: string, name: string, keys: readonly string[], ...args: string[]): Promise<unknown> {
    try {
      if (this.#port.ended) throw ended();
      return await this.#port.command(name, keys, ...args);
    } catch (error) {
      throw meaning(error, act);
    }
  }
}
