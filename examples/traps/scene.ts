import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { redis } from '../../src/backends/redis/index.ts';
import { createLocks, type Locks, type LocksDefaults } from '../../src/index.ts';
import { startRedis } from '../../test/kit/redis.ts';
import type { Server } from '../../test/kit/server.ts';

/** What came of one way to do it. */
export interface Outcome {
  readonly right: boolean;
  /** A sentence, with what was seen. */
  readonly seen: string;
}

/** A mistake, and the same job done right, on a real Redis. */
export interface Trap {
  readonly title: string;
  naive(scene: Scene): Promise<Outcome>;
  holdfast(scene: Scene): Promise<Outcome>;
}

const CHILD = fileURLToPath(new URL('./dying.ts', import.meta.url));

/** An empty Redis, and whoever talks to it. Everything ends with it. */
export class Scene implements AsyncDisposable {
  readonly server: Server;
  readonly #ends = new AsyncDisposableStack();

  private constructor(server: Server) {
    this.server = this.#ends.use(server);
  }

  static async start(): Promise<Scene> {
    return new Scene(await startRedis());
  }

  /** One more Redis, that knows nothing of the first. */
  async another(settings: Readonly<Record<string, string | readonly string[]>> = {}): Promise<Server> {
    return this.#ends.use(await startRedis(settings));
  }

  /** A connection of its own, as another process has it. */
  client(server: Server = this.server): Redis {
    const client = new Redis(server.port, server.host, { retryStrategy: () => 100, maxRetriesPerRequest: 1 });
    client.on('error', () => {}); // some servers here are killed
    this.#ends.defer(() => client.disconnect());
    return client;
  }

  locks(defaults: LocksDefaults = {}, client: Redis = this.client()): Locks {
    const locks = createLocks(redis(client), defaults);
    this.#ends.use(locks);
    return locks;
  }

  /** A process that takes the lock `job` one way or the other and is killed, by SIGKILL, in the middle of its work. */
  async dies(way: 'set-then-expire' | 'set' | 'holdfast'): Promise<void> {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', CHILD, way, `${this.server.port}`],
      {
        env: { ...process.env, NODE_OPTIONS: '' },
        stdio: 'inherit',
      },
    );
    const [, signal] = await once(child, 'exit');
    if (signal !== 'SIGKILL') throw new Error(`${CHILD} was to be killed in its work, and ended by itself`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#ends.disposeAsync();
  }
}

/** How many run this at the same time, at most. */
export class Room {
  most = 0;
  #inside = 0;

  async enter(work: () => Promise<unknown>): Promise<void> {
    this.most = Math.max(this.most, ++this.#inside);
    await work();
    this.#inside--;
  }

  get outcome(): Outcome {
    return { right: this.most === 1, seen: `${this.most} were inside at the same time` };
  }
}
