import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchange, freePort, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server } from './server.ts';

/**
 * One server with JetStream, which flushes every write to disk before it says yes.
 * @param more lines of its configuration
 */
export async function startNats(...more: string[]): Promise<Server> {
  const port = await freePort();
  const monitor = await freePort();
  return Server.start({
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
    ready: async () => /"status": ?"ok"/.test(await exchange(monitor, 'GET /healthz HTTP/1.0\r\n\r\n')),
  });
}
