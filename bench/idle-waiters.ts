/**
 * etcd and ZooKeeper: what it costs that so many claims of one process wait for one key, and nothing happens. Each gives a sign of life
 * every two seconds, as under core. Bytes as they pass a proxy, requests as the server counts them, a second.
 * Run: `node bench/idle-waiters.ts`
 */
import { etcd } from '../src/backends/etcd/index.ts';
import { zookeeper } from '../src/backends/zookeeper/index.ts';
import type { Backend } from '../src/core/contract/backend.ts';
import { startEtcd } from '../test/kit/etcd.ts';
import { IDLE_LINES, IdleLine } from '../test/kit/idle-line.ts';
import { exchange } from '../test/kit/net.ts';
import { startProxy } from '../test/kit/proxy.ts';
import type { Server } from '../test/kit/server.ts';
import { startZookeeper } from '../test/kit/zookeeper.ts';

const SIZES = [10, 50, 100, 250, 500];
/** Between two signs of life of a waiter. s. */
const PERIOD = 2;
const TTL = 60_000;

interface Engine {
  readonly name: string;
  start(): Promise<Server>;
  open(address: string): Backend;
  /** So far. */
  requests(server: Server): Promise<number>;
}

const engines: readonly Engine[] = [
  {
    name: 'ZooKeeper',
    start: () => startZookeeper(),
    open: (servers) => zookeeper({ servers, sessionTimeout: TTL }),
    requests: async ({ port }) => Number(/Received: (\d+)/.exec(await exchange(port, 'srvr'))?.[1]),
  },
  {
    name: 'etcd',
    start: () => startEtcd(),
    open: (endpoints) => etcd({ endpoints, timeout: '30s' }),
    async requests({ port }) {
      const metrics = await exchange(port, 'GET /metrics HTTP/1.0\r\n\r\n');
      const counts = metrics.matchAll(/^grpc_server_started_total\{.*\} (\d+)/gm);
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    },
  },
];

for (const { name, start, open, requests } of engines) {
  await using server = await start();
  await using proxy = await startProxy(server.port);
  const backend = open(`${proxy.host}:${proxy.port}`);
  for (const kind of IDLE_LINES) {
    for (const size of SIZES) {
      await using line = await IdleLine.of(size, backend, proxy, kind, TTL);
      await line.signsOfLife(); // the first may list what has changed since it joined
      const before = await requests(server);
      const bytes = (await line.signsOfLife()) * size;
      const asked = (await requests(server)) - before;
      const [kilobytes, perSecond] = [bytes / PERIOD / 1_000, asked / PERIOD].map((value) => value.toFixed(1));
      console.log(`${name}: ${size} ${kind[0]}: ${kilobytes} kB/s, ${perSecond} requests/s`);
    }
  }
  await backend.close();
}
