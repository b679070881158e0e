import type { LocksHost } from './host.ts';

/**
 * Ends what runs by locks, and then the locks. Nest destroys a module before those it imports, and global ones last; so this is a
 * provider of the module that the application imports, and not of the global one, which would come after connections are closed.
 */
export class Shutdown {
  readonly #host: LocksHost;

  constructor(host: LocksHost) {
    this.#host = host;
  }

  /** Most has stopped by now, each object's work before the object. */
  async onModuleDestroy(): Promise<void> {
    await this.#host.work.stop();
  }

  /** The last requests have ended. */
  async onApplicationShutdown(): Promise<void> {
    await this.#host.close();
  }
}
