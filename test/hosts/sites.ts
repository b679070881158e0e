import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchange } from '../kit/net.ts';
import { type Need, program } from '../kit/programs.ts';
import type { Engine } from '../kit/selection.ts';
import type { ServerPlan } from '../kit/server.ts';
import { until } from '../kit/wait.ts';
import { zookeeperClassPath } from '../kit/zookeeper.ts';
import type { Host } from './network.ts';

/** A topology of which each server has a host of its own. */
export interface HostedSite {
  readonly engine: Engine;
  readonly count: number;
  url(hosts: readonly Host[]): string;
  /** The servers, in the order in which they start; those of one list start together. */
  plans(hosts: readonly Host[]): readonly (readonly ServerPlan[])[];
  /** The promises that are best effort there, as docs/promises.md has them: a fail-over may forget a grant. */
  readonly mayBreak?: readonly string[];
  /** What makes one of them all, once they run. */
  join?(hosts: readonly Host[]): Promise<void>;
}

type Plan = Pick<ServerPlan, 'args' | 'prepare' | 'ready'>;

/** Every host has all its ports to itself. */
const onHost = (need: Need, name: string, { address, command }: Host, port: number, plan: Plan): ServerPlan => ({
  ...plan,
  ...{ name: `${name} on ${address}`, port, url: `tcp://${address}:${port}`, within: 60_000 },
  command: command[0]!,
  args: (data, folder) => [...command.slice(1), program(need, name), ...plan.args(data, folder)],
});

const ask = (host: Host, port: number, request: string, enough?: (reply: string) => boolean): Promise<string> =>
  exchange(port, request, enough, 1_000, host.address);

const askRedis = (host: Host, command: string, port = REDIS): Promise<string> =>
  ask(host, port, `${command}\r\n`, (reply) => reply.endsWith('\r\n'));

const all = (hosts: readonly Host[], port: number): string =>
  hosts.map(({ address }) => `${address}:${port}`).join(',');

const REDIS = 6379;

function redis(
  host: Host,
  settings: Readonly<Record<string, string>> = {},
  ready = /PONG/,
  question = 'PING',
): ServerPlan {
  const lines = { save: '', appendonly: 'no', 'protected-mode': 'no', 'repl-diskless-sync-delay': '0', ...settings };
  return onHost('redis', 'redis-server', host, REDIS, {
    args: (data) => [
      ...['--port', `${REDIS}`, '--bind', host.address, '--dir', data],
      ...Object.entries(lines).flatMap(([name, value]) => [`--${name}`, ...value.split(' ')]),
    ],
    ready: async () => ready.test(await askRedis(host, question)),
  });
}

const FAIL_OVER: Pick<HostedSite, 'mayBreak'> = { mayBreak: ['exclusion', 'tokens', 'register'] };

const SENTINEL = 26_379;

const sentinel = (host: Host, primary: Host): ServerPlan =>
  onHost('redis', 'redis-server', host, SENTINEL, {
    prepare(data) {
      const lines = [
        ...[`port ${SENTINEL}`, `bind ${host.address}`, 'protected-mode no'],
        `sentinel monitor main ${primary.address} ${REDIS} 2`,
        'sentinel down-after-milliseconds main 500',
        'sentinel failover-timeout main 2000',
      ];
      writeFileSync(join(data, 'sentinel.conf'), `${lines.join('\n')}\n`);
    },
    args: (data) => [join(data, 'sentinel.conf'), '--sentinel'],
    ready: async () => {
      const known = await askRedis(host, 'SENTINEL MASTER main', SENTINEL);
      return /num-slaves\r\n\$1\r\n2\r\n/.test(known) && /num-other-sentinels\r\n\$1\r\n2\r\n/.test(known);
    },
  });

const ETCD = 2379;
const ETCD_PEER = 2380;

const etcd = (host: Host, hosts: readonly Host[]): ServerPlan => {
  const peer = ({ address }: Host): string => `http://${address}:${ETCD_PEER}`;
  const client = `http://${host.address}:${ETCD}`;
  const flags = {
    name: host.name,
    ...{ 'log-level': 'warn', 'listen-client-urls': client, 'advertise-client-urls': client },
    ...{ 'listen-peer-urls': peer(host), 'initial-advertise-peer-urls': peer(host) },
    'initial-cluster': hosts.map((each) => `${each.name}=${peer(each)}`).join(','),
    ...{ 'heartbeat-interval': '50', 'election-timeout': '500' },
  };
  return onHost('etcd', 'etcd', host, ETCD, {
    args: (data) => ['--data-dir', data, ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])],
    ready: async () => /"health":"?true/.test(await ask(host, ETCD, 'GET /health HTTP/1.0\r\n\r\n')),
  });
};

const ZOOKEEPER = 2181;

const zookeeper = (host: Host, hosts: readonly Host[]): ServerPlan =>
  onHost('zookeeper', 'java', host, ZOOKEEPER, {
    prepare(data) {
      const lines = [
        ...[`dataDir=${data}`, `clientPort=${ZOOKEEPER}`, `clientPortAddress=${host.address}`],
        ...['tickTime=200', 'initLimit=25', 'syncLimit=10', 'minSessionTimeout=500', 'maxSessionTimeout=60000'],
        ...['maxClientCnxns=0', 'admin.enableServer=false', '4lw.commands.whitelist=*'],
        ...hosts.map(({ address }, n) => `server.${n + 1}=${address}:2888:3888`),
      ];
      writeFileSync(join(data, 'zoo.cfg'), `${lines.join('\n')}\n`);
      writeFileSync(join(data, 'myid'), `${hosts.indexOf(host) + 1}\n`);
    },
    args: (data) => [
      ...['-Xms32m', '-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', zookeeperClassPath()],
      ...['org.apache.zookeeper.server.quorum.QuorumPeerMain', join(data, 'zoo.cfg')],
    ],
    ready: async () => /Mode: (leader|follower)/.test(await ask(host, ZOOKEEPER, 'srvr')),
  });

const NATS = 4222;
const NATS_MONITOR = 8222;
const NATS_ROUTE = 6222;

const nats = (host: Host, hosts: readonly Host[]): ServerPlan =>
  onHost('nats', 'nats-server', host, NATS, {
    prepare(data, folder) {
      const routes = hosts.map(({ address }) => `"nats://${address}:${NATS_ROUTE}"`).join(', ');
      const lines = [
        `server_name: "${host.name}"`,
        `listen: "${host.address}:${NATS}"`,
        `http: "${host.address}:${NATS_MONITOR}"`,
        `jetstream { store_dir: "${data}", sync_interval: always }`,
        `cluster { name: "three", listen: "${host.address}:${NATS_ROUTE}", routes: [ ${routes} ] }`,
      ];
      writeFileSync(join(folder, 'nats.conf'), lines.join('\n'));
    },
    args: (_, folder) => ['-c', join(folder, 'nats.conf')],
    ready: async () => /"status": ?"ok"/.test(await ask(host, NATS_MONITOR, 'GET /healthz HTTP/1.0\r\n\r\n')),
  });

/** What torture runs on hosts. */
export const HOSTED_SITES: Readonly<Record<string, HostedSite>> = {
  redis: {
    ...{ engine: 'redis', count: 1 },
    url: ([host]) => `redis://${host!.address}:${REDIS}`,
    plans: ([host]) => [[redis(host!)]],
  },
  redlock: {
    ...{ engine: 'redlock', count: 5 },
    url: (hosts) => `redlock+redis://${all(hosts, REDIS)}`,
    plans: (hosts) => [hosts.map((host) => redis(host))],
  },
  /** Each host has a server and a sentinel. */
  'redis-sentinel': {
    ...{ engine: 'redis', count: 3, ...FAIL_OVER },
    url: (hosts) => `redis+sentinel://${all(hosts, SENTINEL)}/main`,
    plans: ([primary, ...others]) => [
      [redis(primary!)],
      others.map((host) =>
        redis(host, { replicaof: `${primary!.address} ${REDIS}` }, /master_link_status:up/, 'INFO replication'),
      ),
      [primary!, ...others].map((host) => sentinel(host, primary!)),
    ],
  },
  'redis-cluster': {
    ...{ engine: 'redis', count: 6, ...FAIL_OVER },
    url: (hosts) => `redis+cluster://${all(hosts, REDIS)}`,
    plans: (hosts) => [
      hosts.map((host) =>
        redis(host, { 'cluster-enabled': 'yes', 'cluster-node-timeout': '1000', 'repl-ping-replica-period': '1' }),
      ),
    ],
    async join(hosts) {
      const nodes = hosts.map(({ address }) => `${address}:${REDIS}`);
      const create = ['--cluster', 'create', ...nodes, '--cluster-replicas', '1', '--cluster-yes'];
      execFileSync(program('redis', 'redis-cli'), create, { timeout: 30_000 });
      for (const host of hosts)
        await until(`${host.name} of the cluster is ready`, async () =>
          /cluster_state:ok[\s\S]*cluster_known_nodes:6/.test(await askRedis(host, 'CLUSTER INFO')),
        );
    },
  },
  etcd: {
    ...{ engine: 'etcd', count: 3 },
    url: (hosts) => `etcd://${all(hosts, ETCD)}`,
    plans: (hosts) => [hosts.map((host) => etcd(host, hosts))],
  },
  zookeeper: {
    ...{ engine: 'zookeeper', count: 3 },
    url: (hosts) => `zookeeper://${all(hosts, ZOOKEEPER)}?sessionTimeout=4000`,
    plans: (hosts) => [hosts.map((host) => zookeeper(host, hosts))],
  },
  nats: {
    ...{ engine: 'nats', count: 3 },
    url: (hosts) => `nats://${all(hosts, NATS)}/locks?replicas=3&synced=true`,
    plans: (hosts) => [hosts.map((host) => nats(host, hosts))],
  },
};
