import type { LocksHost } from './host.ts';

/**
 * Ends the work under locks, and then the locks. Nest destroys a module before the modules that it imports, and global ones
 * last. So this provider belongs to the module that the application imports. In the global module it would come after
 * connections are closed.
 */
export class Shutdown {
  readonly #host: LocksHost;

  constructor(host: LocksHost) {
    this.#host = host;
  }

  /** Most work has stopped by now: each object's work stops before the object. */
  async onModuleDestroy(): Promise<void> {
    await this.#host.work.stop();
  }

  /** By now the last requests have ended. */
  async onApplicationShutdown(): Promise<void> {
    await this.#host.close();
  }
}
