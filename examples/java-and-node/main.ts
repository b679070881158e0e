/** A Java service with Redisson and a Node.js service with holdfast grab the same orders. It needs a redis-server, Java and Maven. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { startRedis } from '../../test/kit/redis.ts';
import { grabOrders } from './service.ts';

/** Ends with the number of orders that were not won exactly once. */
export async function javaAndNode(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { orders: { type: 'string', default: '100' } } });
  const orders = Number(values.orders);
  await using server = await startRedis();
  const java = spawn('mvn', ['-q', '-B', 'compile', 'exec:java', `-Dexec.args=${server.url} ${orders}`], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const javaEnds = once(java, 'exit').then(([code]) => {
    if (code !== 0) throw new Error(`mvn ended with ${code}`);
  });
  await Promise.all([javaEnds, grabOrders(server.url, orders)]);
  return await report(server.url, orders);
}

async function report(url: string, orders: number): Promise<number> {
  const client = new Redis(url);
  const won = await Promise.all(Array.from({ length: orders }, (_, i) => client.lrange(`won:${i + 1}`, 0, -1)));
  client.disconnect();
  const by = (service: string): number => won.flat().filter((winner) => winner.startsWith(service)).length;
  const wrong = won.filter((winners) => winners.length !== 1).length;
  console.log(`${orders} orders: ${by('java')} won by Java, ${by('node')} by Node.js, ${wrong} by both or none`);
  return wrong;
}

if (import.meta.main) process.exitCode = (await javaAndNode(process.argv.slice(2))) === 0 ? 0 : 1;
