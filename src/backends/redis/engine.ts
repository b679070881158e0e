import { ended, meaning } from './errors.ts';
import type { Port } from './port.ts';
import type { Script } from './scripts.generated.ts';

/** The server as the backend sees it: what fails comes back as what it means. */
export class Engine {
  readonly #port: Port;

  constructor(port: Port) {
    this.#port = port;
  }

  /** Runs a script by its hash and reads its reply; where the server does not know it, gives its text. */
  run<T>(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    read: (reply: unknown) => T,
    key?: string,
  ): Promise<T> {
    if (this.#port.ended) return Promise.reject(ended(script.name, key));
    return this.#port.evalSha(script.sha1, keys, args).then(read, async (error) => {
      try {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return read(await this.#port.eval(script.text, keys, args));
      } catch (failure) {
        throw meaning(failure, script.name, key);
      }
    });
  }

  async command(what: string, name: string, ...args: string[]): Promise<unknown> {
    if (this.#port.ended) throw ended(what);
    try {
      return await this.#port.command(name, ...args);
    } catch (error) {
      throw meaning(error, what);
    }
  }
}
