import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchange, freePort, freePorts, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server, type ServerPlan, Servers } from './server.ts';
import { until } from './wait.ts';

/** @param more lines of its configuration */
function planOf(port: number, monitor: number, more: readonly string[], host = HOST): ServerPlan {
  return {
    name: 'nats-server',
    port,
    url: `nats://${host}:${port}/locks`,
    command: program('nats', 'nats-server'),
    prepare(data, folder) {
      const lines = [
        `listen: "${host}:${port}"`,
        `http: "${host}:${monitor}"`,
        `jetstream { store_dir: "${data}", sync_interval: always }`,
        ...more,
      ];
      writeFileSync(join(folder, 'nats.conf'), lines.join('\n'));
    },
    args: (_, folder) => ['-c', join(folder, 'nats.conf')],
    ready: async () =>
      /"status": ?"ok"/.test(await exchange(monitor, 'GET /healthz HTTP/1.0\r\n\r\n', undefined, undefined, host)),
  };
}

/**
 * One server with JetStream, which flushes every write to disk before it says yes.
 * @param more lines of its configuration
 */
export async function startNats(...more: string[]): Promise<Server> {
  const [port, monitor] = [await freePort(), await freePort()];
  return Server.start(planOf(port, monitor, more));
}

/** Where a server of a cluster listens: for clients, for who asks how it is, and for the other servers. */
export interface NatsAddress {
  readonly host: string;
  readonly port: number;
  readonly monitor: number;
  readonly route: number;
}

/** The servers of one cluster. */
export function natsPlans(addresses: readonly NatsAddress[]): ServerPlan[] {
  const routes = addresses.map(({ host, route }) => `"nats://${host}:${route}"`).join(', ');
  return addresses.map(({ host, port, monitor, route }, n) => {
    const cluster = `cluster { name: "three", listen: "${host}:${route}", routes: [ ${routes} ] }`;
    return planOf(port, monitor, [`server_name: n${n}`, cluster], host);
  });
}

/** A cluster of three such servers. */
export interface NatsCluster extends AsyncDisposable {
  readonly servers: readonly Server[];
  /** Of all of them, for a bucket with three replicas. */
  readonly url: string;
  /** The one that leads the bucket, as soon as one does. */
  leader(): Promise<Server>;
}

/** @param bucket whose leader is asked for, which the address names, too */
export async function startNatsCluster(bucket = 'locks'): Promise<NatsCluster> {
  const [ports, monitors, routes] = [await freePorts(3), await freePorts(3), await freePorts(3)];
  const addresses = ports.map((port, n) => ({ host: HOST, port, monitor: monitors[n]!, route: routes[n]! }));
  const cluster = await Servers.start('nats', natsPlans(addresses));
  const { servers } = cluster;
  return {
    servers,
    url: `${cluster.url}/${bucket}?replicas=3&synced=true`,
    async leader() {
      let leader: Server | undefined;
      await until(`one of them leads ${bucket}`, async () => {
        for (const monitor of monitors) {
          const told = await exchange(monitor, 'GET /jsz?streams=1&accounts=1 HTTP/1.0\r\n\r\n').catch(() => '');
          const name = new RegExp(`"name": ?"KV_${bucket}"[^]*?"leader": ?"n(\\d)"`).exec(told)?.[1];
          leader = name === undefined ? undefined : servers[Number(name)];
          if (leader?.alive) return true;
        }
        return false;
      });
      return leader!;
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}
