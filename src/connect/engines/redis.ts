import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { type Backend, invalid } from '../../core/index.ts';
import {
  CONNECT_LIMIT_MS,
  driver,
  type EngineUrl,
  type OpenEngine,
  openEngine,
  several,
  withConnectLimit,
} from '../engine.ts';
import { distrust, TLS_PARAMS, tlsOf } from '../tls.ts';
import { type Address, pick, single } from '../url.ts';

type Driver = Pick<typeof import('ioredis'), 'Cluster' | 'Redis'>;
type Client = Redis | Cluster;

/** No offline queue and no resending: a command that is not sent now must not be sent later, when nobody waits for it any more. */
const SAFE = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: CONNECT_LIMIT_MS,
  // Ends a connection that hangs or was dropped silently, if requests wait and nothing arrives for this time, ms.
  socketTimeout: CONNECT_LIMIT_MS / 2,
  // A server that loads its data says how long it still needs, and at first only guesses: ioredis would wait up to ten seconds.
  maxLoadingRetryTime: 1_000,
  // How long a close may take, ms. A dead connection takes all of this time, and keeps the process alive. All answers have come before the close.
  disconnectTimeout: 100,
  // READONLY: this connection still leads to the old primary, the name or the sentinels to the new one. 1: connect again, do not resend the command.
  reconnectOnError: ({ message }: Error) => message.startsWith('READONLY') && 1,
} as const satisfies RedisOptions;

const PORT = 6379;
const SENTINEL_PORT = 26_379;

/** The client for each scheme: the schemes differ in nothing else. */
const CLIENTS: Readonly<Record<string, (driver: Driver, address: Address) => Client>> = {
  redis: ({ Redis }, address) => new Redis({ ...options(address, address.path), ...single(address, PORT) }),
  rediss: ({ Redis }, address) => new Redis({ ...options(address, address.path, true), ...single(address, PORT) }),
  'redis+sentinel': ({ Redis }, address) => {
    const { hosts, path, params } = address;
    const sentinels = hosts.map(({ host, port = SENTINEL_PORT }) => ({ host, port }));
    if (sentinels.length === 0 || path === '') {
      throw invalid('redis+sentinel: needs the sentinels and the name of the group, as in redis+sentinel://h1,h2/main');
    }
    const all = options(address, params.get('db') ?? '');
    // TLS is for both: if the servers have TLS, the sentinels have it, too.
    return new Redis({
      ...all,
      sentinels,
      name: path,
      sentinelTLS: all.tls,
      enableTLSForSentinelMode: !!all.tls,
      // A primary that hangs keeps its connections open. Only the sentinels report that another server is the primary now.
      failoverDetector: true,
    });
  },
  'redis+cluster': ({ Cluster }, address) => {
    const { hosts, path } = address;
    if (hosts.length === 0 || path !== '') {
      throw invalid('redis+cluster: needs some of the nodes and nothing else, as in redis+cluster://h1,h2');
    }
    const redisOptions = options(address, '');
    const nodes = hosts.map(({ host, port = PORT }) => ({ host, port }));
    return new Cluster(nodes, {
      redisOptions,
      lazyConnect: true,
      enableOfflineQueue: false,
      // A certificate has host names. So the names must not become IP addresses.
      ...(redisOptions.tls && { dnsLookup: (name, found) => found(null, name) }),
      clusterRetryStrategy: (tries) => Math.min(100 * tries, 2_000),
    });
  },
};

export const redisUrl: EngineUrl = {
  schemes: Object.keys(CLIENTS),
  example: 'redis://127.0.0.1:6379/0',
  ports: { [PORT]: 'redis', [SENTINEL_PORT]: 'redis+sentinel' },
  denials: [/^(?:WRONGPASS|NOAUTH|NOPERM)\b/],
  params: ['prefix', 'db', ...TLS_PARAMS],
  async open(address) {
    const { redis } = await import('../../backends/redis/index.ts');
    return openClient(address, (client) => redis(client, pick(address, 'prefix')));
  },
};

/**
 * A Redis whose locks other programs take, too. The parameter `prefix` of the address is the text before each name; default: none.
 * @param name what follows `redis+` in the schemes: `plain` in `redis+plain`, which uses the client of `redis`
 * @param load makes the engine from the parameters of the address
 */
const sharedRedis = (
  name: string,
  ways: readonly string[],
  params: readonly string[],
  load: (address: Address, key: { key?: (name: string) => string }) => Promise<(client: Client) => Backend>,
): EngineUrl => ({
  schemes: [`redis+${name}`, `rediss+${name}`, ...ways.map((way) => `redis+${name}+${way}`)],
  example: `redis+${name}://127.0.0.1:6379/0`,
  denials: redisUrl.denials!,
  params: ['prefix', ...params, ...TLS_PARAMS],
  async open(address) {
    const { prefix } = pick(address, 'prefix');
    const key = prefix === undefined ? {} : { key: (name: string) => `${prefix}${name}` };
    return openClient({ ...address, scheme: address.scheme.replace(`+${name}`, '') }, await load(address, key));
  },
});

/** The locks of many other programs, on one server only. */
export const plainRedisUrl = sharedRedis('plain', [], ['registry'], async (address, key) => {
  const { plainRedis } = await import('../../backends/redis-plain/index.ts');
  return (client) => plainRedis(client, { ...pick(address, 'registry'), ...key });
});

/** The locks of Redisson, on one server, behind sentinels, or on a Cluster. */
export const redissonUrl = sharedRedis(
  'redisson',
  ['sentinel', 'cluster'],
  ['fenced', 'fair', 'db'],
  async (address, key) => {
    const { redisson } = await import('../../backends/redisson/index.ts');
    const kinds = pick(address, 'fenced', 'fair');
    for (const [name, value] of Object.entries(kinds))
      if (!['true', 'false'].includes(value)) throw invalid(`?${name}= is true or false`);
    const options = { ...key, fenced: kinds.fenced === 'true', fair: kinds.fair === 'true' };
    return (client) => redisson(client, options);
  },
);

async function openClient(address: Address, engine: (client: Client) => Backend): Promise<OpenEngine> {
  const ioredis = await driver('ioredis');
  const client = CLIENTS[address.scheme]!(ioredis, address);
  const backend = engine(client); // made before the client connects: if this throws, no connection stays open
  let why: unknown;
  client.on('error', (error: Error & { lastNodeError?: unknown }) => {
    why = error.lastNodeError ?? error; // for a Cluster, the error of a node. Later, the failed calls show their errors
  });
  // With sentinels the client may end for good, if one sentinel names the new primary while another one is asked. Then the client connects again, but
  // not after a close. In a quorum, which needs only a majority of its servers, the close may come before this client has connected.
  let closed = false;
  const again = (): void => {
    if (!closed) client.connect().catch(() => {}); // its 'error' event says why
  };
  const connected = withConnectLimit(client.connect()).then(
    () => void client.on('end', again),
    async (error) => {
      throw (await untold(address)) ?? why ?? error;
    },
  );
  const end = (): void => {
    closed = true;
    client.disconnect();
  };
  return openEngine(address, backend, end, connected);
}

/** The error of the TLS handshake with the first server. If there may be several servers, the driver hides this error. */
async function untold(address: Address): Promise<Error | undefined> {
  const tls = tlsOf(address);
  const [first] = address.hosts;
  if (!tls || !first || !address.scheme.includes('+')) return undefined;
  return distrust(first.host, first.port ?? (address.scheme === 'redis+sentinel' ? SENTINEL_PORT : PORT), tls);
}

/** @param db the database: from the path, or from `?db=` if the path is something else */
function options(address: Address, db: string, secure = false): RedisOptions {
  const { user, password, params } = address;
  if ((params.get('db') ?? db) !== db) {
    throw invalid(
      '?db= is for redis+sentinel:; of one server the database is the path, redis://host/5, and a Cluster has but 0',
    );
  }
  if (!/^\d{0,5}$/.test(db)) throw invalid(`the database of a Redis is a number, as in redis://127.0.0.1/0`);
  return { ...SAFE, db: Number(db), username: user, password, tls: tlsOf(address, secure) };
}

const SCHEMES: Readonly<Record<string, string>> = { 'redlock+redis': 'redis', 'redlock+rediss': 'rediss' };

/** Each host is a Redis, with the same user, password, database and prefix. */
export const redlockUrl: EngineUrl = {
  schemes: Object.keys(SCHEMES),
  example: 'redlock+redis://host1,host2,host3',
  params: redisUrl.params,
  async open(address) {
    const { hosts } = address;
    if (hosts.length < 3)
      throw invalid(`${address.scheme}: needs at least three independent servers, as in redlock+redis://h1,h2,h3`);
    const places = new Set(hosts.map(({ host, port = 6_379 }) => `${host}:${port}`));
    if (places.size < hosts.length) throw invalid(`${address.scheme}: names a server twice`);
    const scheme = SCHEMES[address.scheme]!;
    return several(hosts.map((host) => redisUrl.open({ ...address, scheme, hosts: [host] })));
  },
};
