import { Redis, type RedisOptions } from 'ioredis';
import { createClient } from 'redis';
import { type RedisOptions as Options, redis } from '../../../src/backends/redis/index.ts';
import type { RedisClient } from '../../../src/backends/redis/port.ts';
import type { Backend } from '../../../src/core/backend.ts';

export type Library = 'ioredis' | 'node-redis';
export const LIBRARIES: readonly Library[] = ['ioredis', 'node-redis'];

export interface Login {
  readonly username?: string;
  readonly password?: string;
}

interface Opened {
  readonly client: RedisClient & { on(event: 'error', listener: () => void): unknown };
  readonly ready: Promise<unknown>;
  end(): unknown;
}

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
  readonly #ends: (() => unknown)[] = [];

  constructor(server: number | Openers, login: Login = {}) {
    this.#port = typeof server === 'number' ? server : 0;
    this.#login = login;
    this.#openers = typeof server === 'number' ? single(server, login) : server;
  }

  /** For the test's own questions. */
  ioredis(options: RedisOptions = {}): Redis {
    const client = singleIoredis(this.#port, this.#login, options);
    client.on('error', () => {}); // faults are what these tests are for
    this.#ends.push(() => client.disconnect());
    return client;
  }

  async client(library: Library): Promise<RedisClient> {
    const { client, ready, end } = this.#openers[library]();
    client.on('error', () => {});
    this.#ends.push(end);
    await ready;
    return client;
  }

  async backend(library: Library = 'ioredis', options?: Options): Promise<Backend> {
    return this.over(await this.client(library), options);
  }

  over(client: RedisClient, options?: Options): Backend {
    const backend = redis(client, options);
    this.#ends.push(() => backend.close());
    return backend;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }
}
