import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchange, freePort, freePorts, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server, type ServerPlan, Servers } from './server.ts';
import { until } from './wait.ts';

const healthy = async (monitor: number, path = '/healthz'): Promise<boolean> =>
  /"status": ?"ok"/.test(await exchange(monitor, `GET ${path} HTTP/1.0\r\n\r\n`));

function planOf(port: number, monitor: number, more: readonly string[]): ServerPlan {
  return {
    name: 'nats-server',
    port,
    url: `nats://${HOST}:${port}/locks`,
    command: program('nats', 'nats-server'),
    prepare(data, folder) {
      const lines = [
        `listen: "${HOST}:${port}"`,
        `http: "${HOST}:${monitor}"`,
        `jetstream { store_dir: "${data}", sync_interval: always }`,
        ...more,
      ];
      writeFileSync(join(folder, 'nats.conf'), lines.join('\n'));
    },
    args: (_, folder) => ['-c', join(folder, 'nats.conf')],
    ready: () => healthy(monitor),
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
  const others = routes.map((port) => `"nats://${HOST}:${port}"`).join(', ');
  const cluster = await Servers.start(
    'nats',
    ports.map((port, n) =>
      planOf(port, monitors[n]!, [
        `server_name: n${n}`,
        `cluster { name: "three", listen: "${HOST}:${routes[n]}", routes: [ ${others} ] }`,
      ]),
    ),
  );
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
