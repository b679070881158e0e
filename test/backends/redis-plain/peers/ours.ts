/** Our program beside those of the peers. Arguments: library, ports of the servers, port of the referee, options of plainRedis() as JSON. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { plainRedis } from '../../../../src/backends/redis-plain/index.ts';
import { quorum } from '../../../../src/backends/redlock/index.ts';
import { createLocks } from '../../../../src/index.ts';
import { type Held, serve } from './program.ts';

const [, , library, ports, refereePort, json] = process.argv as [string, string, string, string, string, string];
const { prefix, registry } = JSON.parse(json) as { prefix?: string; registry?: string };
const options = { ...(registry && { registry }), ...(prefix && { key: (name: string) => prefix + name }) };

const open = async (port: number) => {
  if (library === 'ioredis') return new Redis(port);
  const client = createClient({ socket: { host: '127.0.0.1', port } });
  await client.connect();
  return client;
};
const clients = await Promise.all(ports.split(',').map((port) => open(Number(port))));
const engines = clients.map((client) => plainRedis(client, options));
const locks = createLocks(engines.length > 1 ? quorum(engines) : engines[0]!);

/** For each key the contexts that are inside of its lock: one that takes again is re-entrant only there. */
const inside = new Map<string, (<R>(enter: () => R) => R)[]>();

const take = (key: string, ttl: number, wait: number): Promise<Held | null> => {
  const contexts = inside.get(key) ?? [];
  inside.set(key, contexts);
  const enter = contexts.at(-1) ?? (<R>(call: () => R): R => call());
  return enter(
    () =>
      new Promise((resolve, reject) => {
        const { promise: over, resolve: end } = Promise.withResolvers<void>();
        const section = async (): Promise<void> => {
          contexts.push(AsyncLocalStorage.snapshot());
          const release = async (): Promise<void> => {
            contexts.pop();
            end();
            await used;
          };
          resolve({ release });
          await over;
        };
        const used = locks.mutex(key).run(section, { ttl, wait });
        used.catch((error) => (error.code === 'LOCK_TIMEOUT' ? resolve(null) : reject(error)));
      }),
  );
};

await serve(take, Number(refereePort));
