import { Redis, type RedisOptions } from 'ioredis';
import { createClient } from 'redis';
import { around } from '../../../products/testing/around.ts';
import type { RedisClient } from '../../../src/backends/redis/client.ts';
import type { BunRedisLike, GlideLike } from '../../../src/backends/redis/glide-and-bun.ts';
import { type RedisOptions as Options, redis } from '../../../src/backends/redis/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';

export type Library = 'ioredis' | 'node-redis';
export const LIBRARIES: readonly Library[] = ['ioredis', 'node-redis'];

export interface Login {
  readonly username?: string;
  readonly password?: string;
}

interface Opened {
  readonly client: Exclude<RedisClient, BunRedisLike | GlideLike> & {
    on(event: 'error', listener: () => void): unknown;
  };
  readonly ready: Promise<unknown>;
  end(): unknown;
}

/**
 * A backend that ends its clients when it is closed. A suite opens hundreds: kept until the end they fill the heap, until
 * collecting garbage stops the process for longer than a lease lasts.
 */
export const owning = (backend: Backend, clients: readonly Pick<Opened, 'end'>[]): Backend =>
  around(backend, {
    async close() {
      await backend.close();
      for (const { end } of clients) await end();
    },
  });

/** How a client of each library is opened. */
export type Openers = Readonly<Record<Library, () => Opened>>;

const single = (port: number, login: Login): Openers => ({
  ioredis: () => {
    const client = singleIoredis(port, login);
    return { client, ready: Promise.resolve(), end: () => client.disconnect() };
  },
  'node-redis': () => {
    const client = createClient({ socket: { host: '127.0.0.1', port }, ...login });
    return { client, ready: client.connect(), end: () => (client.isOpen ? client.destroy() : undefined) };
  },
});

const singleIoredis = (port: number, login: Login, options: RedisOptions = {}): Redis =>
  new Redis({ host: '127.0.0.1', port, ...login, enableReadyCheck: false, ...options });

/** Clients of both libraries, as a fleet of processes would have them; of one server unless told otherwise. All end with the fleet. */
export class Fleet implements AsyncDisposable {
  readonly #port: number;
  readonly #login: Login;
  readonly #openers: Openers;
  readonly #ends = new Set<() => unknown>();

  constructor(server: number | Openers, login: Login = {}) {
    this.#port = typeof server === 'number' ? server : 0;
    this.#login = login;
    this.#openers = typeof server === 'number' ? single(server, login) : server;
  }

  /** For the test's own questions. */
  ioredis(options: RedisOptions = {}): Redis {
    const client = singleIoredis(this.#port, this.#login, options);
    client.on('error', () => {}); // faults are what these tests are for
    this.#ends.add(() => client.disconnect());
    return client;
  }

  async open(library: Library): Promise<Pick<Opened, 'client' | 'end'>> {
    const opened = this.#openers[library]();
    const end = (): unknown => (this.#ends.delete(end) ? opened.end() : undefined);
    this.#ends.add(end);
    opened.client.on('error', () => {});
    await opened.ready;
    return { client: opened.client, end };
  }

  async client(library: Library): Promise<Opened['client']> {
    return (await this.open(library)).client;
  }

  async backend(library: Library = 'ioredis', options?: Options): Promise<Backend> {
    const opened = await this.open(library);
    const backend = redis(opened.client, options);
    const close = (): unknown => backend.close();
    this.#ends.add(close);
    return owning(backend, [opened, { end: () => this.#ends.delete(close) }]);
  }

  over(client: RedisClient, options?: Options): Backend {
    const backend = redis(client, options);
    this.#ends.add(() => backend.close());
    return backend;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of [...this.#ends].reverse()) await end();
  }
}
