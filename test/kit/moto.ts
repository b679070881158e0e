import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exchange, freePort, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server } from './server.ts';

const SCRIPT = fileURLToPath(new URL('moto-in-turn.py', import.meta.url));

/** moto, an emulator of services of AWS in one process, which decides one request after another. `url` opens what has this name there. */
export async function startMoto(scheme: 's3' | 'dynamodb', name: string): Promise<Server> {
  const port = await freePort();
  return Server.start({
    name: 'moto_server',
    port,
    url: `${scheme}://test:test@${name}?endpoint=http://${HOST}:${port}&region=us-east-1`,
    command: join(dirname(program('moto', 'moto_server')), 'python3'),
    args: () => [SCRIPT, HOST, `${port}`],
    ready: async () => (await exchange(port, 'GET /moto-api/ HTTP/1.0\r\n\r\n')).startsWith('HTTP/1'),
    within: 60_000,
  });
}

/** From now on nobody has any rights there. */
export async function withoutRights({ port }: Server): Promise<void> {
  const answer = await exchange(port, 'POST /moto-api/reset-auth HTTP/1.0\r\nContent-Length: 1\r\n\r\n0');
  if (!answer.startsWith('HTTP/1.1 200')) throw new Error(`moto kept its rights: ${answer}`);
}
