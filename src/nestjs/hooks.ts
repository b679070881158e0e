import type { LocksHost } from './host.ts';

type Hook = 'onApplicationBootstrap' | 'onModuleDestroy';
type Hooked = Partial<Record<Hook, () => unknown>>;

/**
 * Wraps a lifecycle hook of one object. So it acts in the object's own turn: after the object has started, and before its
 * dependencies end. That is the only order that Nest keeps between modules.
 */
export function around(object: object, hook: Hook, act: (own: () => unknown) => Promise<unknown>): void {
  const own = (object as Hooked)[hook];
  const value = () => act(async () => own?.call(object));
  Reflect.defineProperty(object, hook, { value, configurable: true, writable: true });
}

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
