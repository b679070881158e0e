import { Cluster, type ClusterOptions, Redis } from 'ioredis';
import { createCluster, createSentinel, type RedisClusterOptions } from 'redis';
import { Fleet } from './fleet.ts';

const HOST = '127.0.0.1';

/** Clients that find their server by the sentinels. */
export const sentinelFleet = (
  { sentinels, name }: { readonly sentinels: readonly { readonly port: number }[]; readonly name: string },
  options: { readonly keyPrefix?: string } = {},
): Fleet => {
  const addresses = sentinels.map(({ port }) => ({ host: HOST, port }));
  return new Fleet({
    ioredis: () => {
      const client = new Redis({ sentinels: addresses, name, failoverDetector: true, ...options });
      // See the page: it may give up for good during a fail-over.
      client.on('end', () => client.connect().catch(() => {}));
      const end = (): void => {
        // Ended as it connects, ioredis (6.0) makes its connections to the sentinels all the same, and keeps them.
        client.on('connect', () => client.disconnect());
        client.removeAllListeners('end').disconnect();
      };
      return { client, ready: Promise.resolve(), end };
    },
    'node-redis': () => {
      const client = createSentinel({ name, sentinelRootNodes: addresses, ...options });
      return {
        client,
        ready: client.connect(),
        end: () => client.destroy(),
      };
    },
  });
};

/** Clients of a cluster. */
export const clusterFleet = (
  nodes: readonly { readonly port: number }[],
  options: ClusterOptions = {},
  theirs: Partial<RedisClusterOptions> = {},
): Fleet => {
  const addresses = nodes.map(({ port }) => ({ host: HOST, port }));
  return new Fleet({
    ioredis: () => {
      const client = new Cluster(addresses, { redisOptions: { socketTimeout: 1_500 }, ...options });
      return {
        client,
        ready: new Promise<void>((resolve) => client.once('ready', resolve)),
        end: () => client.disconnect(),
      };
    },
    'node-redis': () => {
      const client = createCluster({
        rootNodes: addresses.map((socket) => ({ socket })),
        // 5 s by default, during which everything sent to a dead node waits.
        topologyRefreshOnReconnectionAttemptStrategy: 200,
        ...theirs,
      });
      return { client, ready: client.connect(), end: () => (client.isOpen ? client.destroy() : undefined) };
    },
  });
};
