import type { LocksHost } from './host.ts';

/**
 * Begins the work under locks. Nest starts global modules first. So each object knows its locks before its own start, in which
 * it may take one.
 */
export class Startup {
  readonly #host: LocksHost;

  constructor(host: LocksHost) {
    this.#host = host;
  }

  async onModuleInit(): Promise<void> {
    await this.#host.start();
  }
}
