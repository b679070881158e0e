import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { redisson } from '../../src/backends/redisson/index.ts';
import { createLocks } from '../../src/index.ts';

/** The Node.js service: it grabs orders, as Orders.java does. */
export async function grabOrders(url: string, orders: number): Promise<void> {
  const client = new Redis(url);
  const locks = createLocks(redisson(client, { fenced: true }));
  await client.incr('ready');
  while (Number(await client.get('ready')) < 2) await sleep(5);
  const all = Array.from({ length: orders }, (_, i) => i + 1).sort(() => Math.random() - 0.5);
  for (const order of all) {
    await locks.mutex(`order:${order}`, { wait: '10s' }).run(async ({ token }) => {
      if ((await client.get(`driver:${order}`)) !== null) return;
      await sleep(5); // other checks, a payment, …
      await client.set(`driver:${order}`, 'node');
      await client.rpush(`won:${order}`, `node, token ${token}`);
    });
  }
  await locks.close();
  await client.quit();
}
