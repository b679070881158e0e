import { execFileSync } from 'node:child_process';
import { etcdPlans } from '../kit/etcd.ts';
import { natsPlans } from '../kit/nats.ts';
import { program } from '../kit/programs.ts';
import { askRedis, type RedisSettings, redisPlan, sentinelPlan } from '../kit/redis.ts';
import type { Engine } from '../kit/selection.ts';
import type { Server, ServerPlan } from '../kit/server.ts';
import { until } from '../kit/wait.ts';
import { zookeeperPlans } from '../kit/zookeeper.ts';
import type { MovingAddress } from './moving.ts';
import type { Host } from './network.ts';
import { MARIADB_PAIR, POSTGRES_PAIR, pair } from './pairs.ts';

/** The servers of a topology, before they run. */
export interface Topology {
  readonly url: string;
  /** The servers, in the order in which they start; those of one list start together. */
  readonly plans: readonly (readonly ServerPlan[])[];
  /** What makes one of them all, once they run. */
  join?(servers: readonly Server[]): Promise<void>;
  /** The address of the one that is written, and what moves it. It tells whether anybody was connected there. */
  readonly service?: MovingAddress;
  failOver?(pause: () => Promise<void>): Promise<boolean>;
}

/** A topology of which each server has a host of its own. */
export interface HostedSite {
  readonly engine: Engine;
  readonly count: number;
  /** @param neighbours all hosts of the network */
  open(hosts: readonly Host[], neighbours: readonly Host[]): Topology;
  /** The promises that are best effort there, as docs/promises.md has them: a fail-over may forget a grant. */
  readonly mayBreak?: readonly string[];
}

/** Every host has all its ports to itself, so each server is at its usual ones. */
const REDIS = 6379;
const SENTINEL = 26_379;
const ETCD = { client: 2379, peer: 2380 } as const;
const ZOOKEEPER = { client: 2181, links: [2888, 3888] } as const;
const NATS = { port: 4222, monitor: 8222, route: 6222 } as const;

/** The server as it is started on a host. */
export const onHost = (host: Host, plan: ServerPlan): ServerPlan => ({ ...plan, within: 60_000, host: host.command });

const each = (hosts: readonly Host[], plans: readonly ServerPlan[]): ServerPlan[] =>
  plans.map((plan, i) => onHost(hosts[i]!, plan));

const all = (hosts: readonly Host[], port: number): string =>
  hosts.map(({ address }) => `${address}:${port}`).join(',');

/** Outside of loopback it refuses clients without a password. */
const redis = (host: Host, settings: RedisSettings = {}): ServerPlan =>
  onHost(host, redisPlan(REDIS, { 'protected-mode': 'no', ...settings }, undefined, host.address));

const replica = (host: Host, primary: Host): ServerPlan => ({
  ...redis(host, { replicaof: [primary.address, `${REDIS}`] }),
  ready: async () => (await askRedis(REDIS, 'INFO replication', host.address)).includes('master_link_status:up'),
});

const sentinel = (host: Host, primary: Host): ServerPlan => {
  const door = { port: SENTINEL, scheme: 'redis', settings: { 'protected-mode': 'no' } } as const;
  return onHost(host, sentinelPlan(SENTINEL, door, `${primary.address} ${REDIS}`, 'main', host.address));
};

const FAIL_OVER: Pick<HostedSite, 'mayBreak'> = { mayBreak: ['exclusion', 'tokens', 'register'] };

/** What torture runs on hosts. */
export const HOSTED_SITES: Readonly<Record<string, HostedSite>> = {
  redis: {
    ...{ engine: 'redis', count: 1 },
    open: (hosts) => ({ url: `redis://${all(hosts, REDIS)}`, plans: [hosts.map((host) => redis(host))] }),
  },
  redlock: {
    ...{ engine: 'redlock', count: 5 },
    open: (hosts) => ({ url: `redlock+redis://${all(hosts, REDIS)}`, plans: [hosts.map((host) => redis(host))] }),
  },
  /** Each host has a server and a sentinel. */
  'redis-sentinel': {
    ...{ engine: 'redis', count: 3, ...FAIL_OVER },
    open(hosts) {
      const [primary, ...others] = hosts as [Host, ...Host[]];
      return {
        url: `redis+sentinel://${all(hosts, SENTINEL)}/main`,
        plans: [
          [redis(primary)],
          others.map((host) => replica(host, primary)),
          hosts.map((host) => sentinel(host, primary)),
        ],
      };
    },
  },
  'redis-cluster': {
    ...{ engine: 'redis', count: 6, ...FAIL_OVER },
    open(hosts) {
      const settings = { 'cluster-enabled': 'yes', 'cluster-node-timeout': '1000', 'repl-ping-replica-period': '1' };
      return {
        url: `redis+cluster://${all(hosts, REDIS)}`,
        plans: [hosts.map((host) => redis(host, settings))],
        async join() {
          const nodes = hosts.map(({ address }) => `${address}:${REDIS}`);
          const create = ['--cluster', 'create', ...nodes, '--cluster-replicas', '1', '--cluster-yes'];
          execFileSync(program('redis', 'redis-cli'), create, { timeout: 30_000 });
          for (const { name, address } of hosts)
            await until(`${name} of the cluster is ready`, async () =>
              /cluster_state:ok[\s\S]*cluster_known_nodes:6/.test(await askRedis(REDIS, 'CLUSTER INFO', address)),
            );
        },
      };
    },
  },
  /** A standby that commits wait for. */
  'postgres-standby': {
    ...{ engine: 'postgres', count: 2 },
    open: (hosts, neighbours) => pair(POSTGRES_PAIR, hosts, neighbours, true),
  },
  'postgres-standby-async': {
    ...{ engine: 'postgres', count: 2, ...FAIL_OVER },
    open: (hosts, neighbours) => pair(POSTGRES_PAIR, hosts, neighbours, false),
  },
  'mariadb-replica': {
    ...{ engine: 'mysql', count: 2 },
    open: (hosts, neighbours) => pair(MARIADB_PAIR, hosts, neighbours, true),
  },
  'mariadb-replica-async': {
    ...{ engine: 'mysql', count: 2, ...FAIL_OVER },
    open: (hosts, neighbours) => pair(MARIADB_PAIR, hosts, neighbours, false),
  },
  etcd: {
    ...{ engine: 'etcd', count: 3 },
    open: (hosts) => ({
      url: `etcd://${all(hosts, ETCD.client)}`,
      plans: [each(hosts, etcdPlans(hosts.map(({ address: host }) => ({ host, ...ETCD }))))],
    }),
  },
  zookeeper: {
    ...{ engine: 'zookeeper', count: 3 },
    open(hosts) {
      const addresses = hosts.map(({ address: host }) => ({ host, ...ZOOKEEPER }));
      return {
        url: `zookeeper://${all(hosts, ZOOKEEPER.client)}?sessionTimeout=4000`,
        // Its sessions expire in steps of the tick.
        plans: [each(hosts, zookeeperPlans(addresses, { tickTime: '200', initLimit: '25', syncLimit: '10' }))],
      };
    },
  },
  nats: {
    ...{ engine: 'nats', count: 3 },
    open: (hosts) => ({
      url: `nats://${all(hosts, NATS.port)}/locks?replicas=3&synced=true`,
      plans: [each(hosts, natsPlans(hosts.map(({ address: host }) => ({ host, ...NATS }))))],
    }),
  },
};
