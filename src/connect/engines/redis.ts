import type { Redis, RedisOptions } from 'ioredis';
import { invalid } from '../../core/errors.ts';
import { bounded, CONNECT_WITHIN } from '../bounded.ts';
import { driver } from '../driver.ts';
import { type EngineUrl, opened, owning } from '../engine.ts';
import { TLS_PARAMS, tlsOf } from '../tls.ts';
import { type Address, picked, single } from '../url.ts';

type Driver = Pick<typeof import('ioredis'), 'Redis'>;

/**
 * No offline queue and no resending: what was not sent now is not sent behind the caller's back later, when nobody waits
 * for it any more.
 */
const SAFE = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: CONNECT_WITHIN,
  // Also of a connection that is dead already, and it keeps the process alive. All answers were waited for by then.
  disconnectTimeout: 100,
} as const satisfies RedisOptions;

/** What differs between the ways to find a Redis: only the client. */
const CLIENTS: Readonly<Record<string, (driver: Driver, address: Address) => Redis>> = {
  redis: ({ Redis }, address) => new Redis({ ...options(address, address.path), ...single(address, 6379) }),
  rediss: ({ Redis }, address) => new Redis({ ...options(address, address.path, true), ...single(address, 6379) }),
  'redis+sentinel': ({ Redis }, address) => {
    const { hosts, path, params } = address;
    const sentinels = hosts.map(({ host, port = 26_379 }) => ({ host, port }));
    if (sentinels.length === 0 || path === '') {
      throw invalid('redis+sentinel: needs the sentinels and the name of the group, as in redis+sentinel://h1,h2/main');
    }
    const all = options(address, params.get('db') ?? '');
    // The same for both: whoever encrypts the servers does not leave those open that say where they are.
    return new Redis({ ...all, sentinels, name: path, sentinelTLS: all.tls, enableTLSForSentinelMode: !!all.tls });
  },
};

export const redisUrl: EngineUrl = {
  schemes: Object.keys(CLIENTS),
  example: 'redis://127.0.0.1:6379/0',
  params: ['prefix', 'db', ...TLS_PARAMS],
  async open(address) {
    const ioredis = await driver('ioredis', () => import('ioredis'));
    const { redis } = await import('../../backends/redis/index.ts');
    const client = CLIENTS[address.scheme]!(ioredis, address);
    let why: unknown;
    client.on('error', (error) => {
      why = error; // later, the calls that fail tell
    });
    const connected = bounded(client.connect()).catch((error) => {
      throw why ?? error;
    });
    const backend = redis(client, picked(address, 'prefix'));
    return opened(
      address,
      owning(backend, () => client.disconnect()),
      connected,
    );
  },
};

/** @param db of the path, or of `?db=` where the path is something else */
function options(address: Address, db: string, secure = false): RedisOptions {
  const { user, password } = address;
  if (!/^\d{0,5}$/.test(db)) throw invalid(`the database of a Redis is a number, as in redis://127.0.0.1/0`);
  return { ...SAFE, db: Number(db), username: user, password, tls: tlsOf(address, secure) };
}
