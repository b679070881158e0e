/** A program that takes locks with a library of Node.js. Arguments: library, ports of the servers, port of the referee, folder of lock-libraries. */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { LockFactory } from '@verrou/core';
import { redisStore } from '@verrou/core/drivers/redis';
import { Redis } from 'ioredis';
import { Mutex, RedlockMutex } from 'redis-semaphore';
import { openRedlock } from '../../../rivals/redlock.ts';
import { serve, type Take } from './program.ts';

const [, , library, portList, refereePort, folder] = process.argv as [string, string, string, string, string, string];
const ports = portList.split(',').map(Number);
const load = createRequire(join(folder, 'package.json'));
/** What is used of the two libraries that are no packages of the repository. */
type OldRedlock = new (
  clients: object[],
  options: object,
) => {
  lock(key: string, ttl: number): Promise<{ extend(ttl: number): Promise<unknown>; unlock(): Promise<unknown> }>;
};
interface Universal {
  readonly IoredisAdapter: new (client: object) => object;
  createLock(config: object): UniversalLock;
  createRedlock(config: object): UniversalLock;
}
/** Keys, and times in whole seconds. */
interface Medusa {
  acquire(key: string, options: { ownerId: string; expire: number }): Promise<void>;
  release(key: string, options: { ownerId: string }): Promise<boolean>;
  execute(key: string, job: () => Promise<void>, options: { timeout: number; expire: number }): Promise<void>;
}
interface UniversalLock {
  acquire(): Promise<object>;
  extend(handle: object, ttl: number): Promise<boolean>;
  release(handle: object): Promise<boolean>;
}

const ignore = (): void => {};
const oldClients = (): Redis[] => {
  const { Redis: Old } = load('ioredis') as { Redis: typeof Redis };
  return ports.map((port) => new Old(port));
};
const yes = (done: Promise<unknown>): Promise<boolean> =>
  done.then(
    () => true,
    () => false,
  );

/** Each with its own defaults, except that the time for which it waits is given. */
const LIBRARIES: Readonly<Record<string, () => Take>> = {
  redlock4() {
    const Redlock = load('redlock') as OldRedlock;
    const clients = oldClients();
    return async (key, ttl, wait) => {
      const locks = new Redlock(clients, { retryCount: Math.floor(wait / 200), retryDelay: 200, retryJitter: 100 });
      const lock = await locks.lock(key, ttl).catch(ignore);
      if (!lock) return null;
      // Each extension gives a new object, and the lock that is released must be that one.
      let current = lock;
      return {
        renew: (next) =>
          yes(
            current.extend(next).then((extended) => {
              current = extended as typeof lock;
            }),
          ),
        release: () => current.unlock().catch(ignore),
      };
    };
  },
  redlock5() {
    const { obtain } = openRedlock(...ports.map((port) => `redis://127.0.0.1:${port}`));
    return obtain;
  },
  'redlock-universal'() {
    const { IoredisAdapter, createLock, createRedlock } = load('redlock-universal') as Universal;
    const adapters = oldClients().map((client) => new IoredisAdapter(client));
    return async (key, ttl, wait) => {
      const retryDelay = adapters.length > 1 ? 200 : 100;
      const options = { key, ttl, retryDelay, retryAttempts: Math.floor(wait / retryDelay) };
      const lock =
        adapters.length > 1
          ? createRedlock({ ...options, adapters })
          : createLock({ ...options, adapter: adapters[0] });
      const handle = await lock.acquire().catch(ignore);
      if (!handle) return null;
      return { renew: (next) => lock.extend(handle, next), release: () => lock.release(handle).catch(ignore) };
    };
  },
  'redis-semaphore'() {
    const clients = ports.map((port) => new Redis(port));
    return async (key, ttl, wait) => {
      const options = {
        lockTimeout: ttl,
        acquireTimeout: Math.max(wait, 1),
        ...(wait === 0 && { acquireAttemptsLimit: 1 }),
        onLockLost: ignore,
      };
      const mutex = clients.length > 1 ? new RedlockMutex(clients, key, options) : new Mutex(clients[0]!, key, options);
      if (!(await mutex.tryAcquire())) return null;
      return { release: () => mutex.release() };
    };
  },
  verrou() {
    const factory = new LockFactory(redisStore({ connection: new Redis(ports[0]!) }).factory());
    return async (key, ttl, wait) => {
      const lock = factory.createLock(key, ttl);
      const taken = wait === 0 ? lock.acquireImmediately() : lock.acquire({ retry: { timeout: wait } });
      if (!(await taken.catch(() => false))) return null;
      return { renew: (next) => yes(lock.extend(next)), release: () => lock.release().catch(ignore) };
    };
  },
  medusa() {
    const { services } = load('@medusajs/locking-redis').default as {
      services: [new (container: { redisClient: Redis }) => Medusa];
    };
    const { Redis: Own } = load('ioredis') as { Redis: typeof Redis };
    const locks = new services[0]({ redisClient: new Own(ports[0]!) });
    return async (key, ttl, wait) => {
      const expire = Math.ceil(ttl / 1_000);
      if (wait === 0) {
        const ownerId = randomUUID();
        const taken = await yes(locks.acquire(key, { ownerId, expire }));
        return taken ? { release: () => locks.release(key, { ownerId }) } : null;
      }
      // Only what is executed waits, and is renewed.
      const inside = Promise.withResolvers<true>();
      const over = Promise.withResolvers<void>();
      const job = (): Promise<void> => {
        inside.resolve(true);
        return over.promise;
      };
      const executed = yes(locks.execute(key, job, { timeout: wait / 1_000, expire }));
      if ((await Promise.race([inside.promise, executed])) !== true) return null;
      return {
        release() {
          over.resolve();
          return executed;
        },
      };
    };
  },
};

await serve(LIBRARIES[library]!(), Number(refereePort));
