import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Certificate } from './certificates.ts';
import { exchange, freePort, freePorts, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server, type ServerPlan, Servers } from './server.ts';
import { until } from './wait.ts';

/** Any directive of redis.conf: `{ maxmemory: '4mb', appendonly: 'yes', user: ['app', 'on', '>secret', '~holdfast:*'] }`. */
export type RedisSettings = Readonly<Record<string, string | readonly string[]>>;

/** What a redis-server answers to one command, as it is on the wire. It asks without a password. */
export const askRedis = (port: number, command: string, host = HOST): Promise<string> =>
  exchange(port, `${command}\r\n`, (reply) => reply.endsWith('\r\n'), 1_000, host);

// Without a password it may not be allowed to say more than that it is there.
const alive = async (port: number, host: string): Promise<boolean> =>
  /^(\+PONG|-NOAUTH)/.test(await askRedis(port, 'PING', host));

/** Where clients and the servers of a group find one: at its port, or with a certificate at another, where it speaks TLS. */
export interface Door {
  readonly port: number;
  readonly scheme: 'redis' | 'rediss';
  readonly settings: RedisSettings;
}

/** At its own port it goes on without TLS, for the kit. */
const tlsSettings = (port: number, { ca, cert, key }: Certificate): RedisSettings => ({
  ...{ 'tls-port': `${port}`, 'tls-cert-file': cert, 'tls-key-file': key, 'tls-ca-cert-file': ca },
  ...{ 'tls-auth-clients': 'no', 'tls-replication': 'yes' },
});

async function doorsOf(ports: readonly number[], certificate: Certificate | undefined): Promise<Door[]> {
  if (!certificate) return ports.map((port) => ({ port, scheme: 'redis', settings: {} }));
  const open = await freePorts(ports.length);
  return open.map((port) => ({ port, scheme: 'rediss', settings: tlsSettings(port, certificate) }));
}

/** One server, which listens at this address alone. */
export function redisPlan(port: number, settings: RedisSettings, door?: Door, host = HOST): ServerPlan {
  // 5 s otherwise, during which a new replica waits for others that want the same copy.
  const all = { save: '', appendonly: 'no', 'repl-diskless-sync-delay': '0', ...door?.settings, ...settings };
  return {
    name: 'redis-server',
    port,
    url: `${door?.scheme ?? 'redis'}://${host}:${door?.port ?? port}`,
    command: program('redis', 'redis-server'),
    args: (data) => [
      ...['--port', `${port}`, '--bind', host, '--dir', data],
      ...Object.entries(all).flatMap(([name, value]) => [`--${name}`, value].flat()),
    ],
    ready: () => alive(port, host),
  };
}

export async function startRedis(settings: RedisSettings = {}, certificate?: Certificate): Promise<Server> {
  const port = await freePort();
  const [door] = await doorsOf([port], certificate);
  return Server.start(redisPlan(port, settings, door));
}

/** Servers that know nothing of each other, for Redlock. */
export async function startRedisNodes(count = 5, settings: RedisSettings = {}): Promise<Servers> {
  const ports = await freePorts(count);
  return Servers.start(
    'redlock+redis',
    ports.map((port) => redisPlan(port, settings)),
  );
}

export interface RedisSentinel extends AsyncDisposable {
  /** What the sentinels call the group. */
  readonly name: string;
  /** The first is the primary at the start. */
  readonly servers: readonly Server[];
  readonly sentinels: readonly Server[];
  readonly url: string;
  /** The port of whoever is primary now, by the word of a sentinel that answers. */
  primary(): Promise<number>;
}

/** A sentinel of a primary with two replicas and two other sentinels. @param primary its address, as `host port` */
export function sentinelPlan(port: number, door: Door, primary: string, name: string, host = HOST): ServerPlan {
  const lines = [
    `port ${port}`,
    `bind ${host}`,
    `sentinel monitor ${name} ${primary} 2`,
    `sentinel down-after-milliseconds ${name} 500`,
    `sentinel failover-timeout ${name} 2000`,
    ...Object.entries(door.settings).map(([name, value]) => `${name} ${value}`),
  ];
  return {
    name: 'redis-sentinel',
    port,
    url: `${door.scheme}://${host}:${door.port}`,
    command: program('redis', 'redis-server'),
    args: (data) => [join(data, 'sentinel.conf'), '--sentinel'],
    prepare: (data) => writeFileSync(join(data, 'sentinel.conf'), `${lines.join('\n')}\n`),
    // Only a sentinel that knows the others can agree on a fail-over.
    ready: async () => {
      const known = await askRedis(port, `SENTINEL MASTER ${name}`, host);
      return /num-slaves\r\n\$1\r\n2\r\n/.test(known) && /num-other-sentinels\r\n\$1\r\n2\r\n/.test(known);
    },
  };
}

/** A primary, two replicas and three sentinels; a dead primary is replaced after about 2 s. */
export async function startRedisSentinel(certificate?: Certificate): Promise<RedisSentinel> {
  const name = 'main';
  const ports = await freePorts(6);
  const doors = await doorsOf(ports, certificate);
  const primary = doors[0]!.port;
  const planAt = (i: number, settings: RedisSettings): ServerPlan => redisPlan(ports[i]!, settings, doors[i]);
  const replicas = [1, 2].map((i) => ({
    ...planAt(i, { replicaof: [HOST, `${primary}`] }),
    ready: async () => (await askRedis(ports[i]!, 'INFO replication')).includes('master_link_status:up'),
  }));
  await using started = new AsyncDisposableStack();
  // First these: a sentinel that finds no replicas at its start looks again only after 10 s.
  const { servers } = started.use(await Servers.start('redis', [planAt(0, {}), ...replicas]));
  const watchers = [3, 4, 5].map((i) => sentinelPlan(ports[i]!, doors[i]!, `${HOST} ${primary}`, name));
  const { servers: sentinels, url } = started.use(await Servers.start('redis+sentinel', watchers));
  const all = started.move();
  return {
    name,
    servers,
    sentinels,
    url: `${url}/${name}`,
    async primary() {
      const asked = sentinels.find(({ alive }) => alive)!;
      const address = await askRedis(asked.port, `SENTINEL GET-MASTER-ADDR-BY-NAME ${name}`);
      return Number(address.trim().split('\r\n').at(-1));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Three primaries, then a replica for each; a dead primary is replaced after about 2 s. */
export async function startRedisCluster(certificate?: Certificate): Promise<Servers> {
  await using started = new AsyncDisposableStack();
  const cluster = started.use(await startRedisPrimaries(3, 1, certificate));
  await untilWhole(cluster);
  started.move();
  return cluster;
}

/** A Cluster of so many primaries, each with so many replicas, just created. */
export async function startRedisPrimaries(
  primaries: number,
  replicas = 0,
  certificate?: Certificate,
): Promise<Servers> {
  const count = primaries * (1 + replicas);
  const nodes = await freePorts(count);
  const doors = await doorsOf(nodes, certificate);
  const buses = await freePorts(count);
  await using started = new AsyncDisposableStack();
  const members = nodes.map((port, index) =>
    redisPlan(
      port,
      {
        'cluster-enabled': 'yes',
        'cluster-node-timeout': '1000',
        'repl-ping-replica-period': '1',
        // The default is port + 10000, which nobody looked at.
        'cluster-port': `${buses[index]}`,
        // Else it would tell its clients of the port without.
        ...(certificate && { 'tls-cluster': 'yes' }),
      },
      doors[index],
    ),
  );
  const cluster = started.use(await Servers.start('redis+cluster', members));
  const addresses = nodes.map((port) => `${HOST}:${port}`);
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', `${replicas}`, '--cluster-yes'];
  await promisify(execFile)(program('redis', 'redis-cli'), create, { timeout: 30_000 });
  started.move();
  return cluster;
}

/** Each node finds all slots served, and every primary has a replica that follows: from the start, and some time after one was away. */
export async function untilWhole({ servers }: Servers): Promise<void> {
  for (const { port } of servers) await until(`node ${port} of the cluster is ready`, () => isMember(port));
}

async function isMember(port: number): Promise<boolean> {
  const info = await askRedis(port, 'CLUSTER INFO');
  if (!info.includes('cluster_state:ok') || !info.includes('cluster_known_nodes:6')) return false;
  const replication = await askRedis(port, 'INFO replication');
  // One that is still being sent the data is connected, and one that is online has not heard of anything: the first ping it answers shows that
  // it follows, while a WAIT before that finds nobody.
  return /slave0:.*state=online,offset=[1-9]/.test(replication) || replication.includes('master_link_status:up');
}
