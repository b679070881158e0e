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
