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

/** Clients of both libraries to one server, as a fleet of processes would have them. All end with the fleet. */
export class Fleet implements AsyncDisposable {
  readonly #port: number;
  readonly #login: Login;
  readonly #ends: (() => unknown)[] = [];

  constructor(port: number, login: Login = {}) {
    this.#port = port;
    this.#login = login;
  }

  /** For the test's own questions. */
  ioredis(options: RedisOptions = {}): Redis {
    const server = { host: '127.0.0.1', port: this.#port, ...this.#login };
    const client = new Redis({ ...server, enableReadyCheck: false, ...options });
    client.on('error', () => {}); // faults are what these tests are for
    this.#ends.push(() => client.disconnect());
    return client;
  }

  async client(library: Library): Promise<RedisClient> {
    if (library === 'ioredis') return this.ioredis();
    const client = createClient({ socket: { host: '127.0.0.1', port: this.#port }, ...this.#login });
    client.on('error', () => {});
    await client.connect();
    this.#ends.push(() => (client.isOpen ? client.destroy() : undefined));
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
