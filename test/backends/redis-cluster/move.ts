import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { askRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';

const idOf = async ({ port }: Server): Promise<string> => (await askRedis(port, 'CLUSTER MYID')).split('\r\n')[1]!;

/** Which of a lock's keys goes first: the string that says who holds, or those that say who stands in line. */
export type Order = 'lock first' | 'lock last';

/** Moves a slot, key by key, as redis-cli does but in a known order, and stays a while in each state. */
export async function move(
  slot: number,
  order: Order,
  from: Server,
  to: Server,
  all: readonly Server[],
): Promise<void> {
  const pause = (): Promise<void> => sleep(100);
  await askRedis(to.port, `CLUSTER SETSLOT ${slot} IMPORTING ${await idOf(from)}`);
  await askRedis(from.port, `CLUSTER SETSLOT ${slot} MIGRATING ${await idOf(to)}`);
  await pause();
  for (;;) {
    const keys = (await askRedis(from.port, `CLUSTER GETKEYSINSLOT ${slot} 10`))
      .split('\r\n')
      .filter((_, i) => i % 2 === 0);
    const [shortest, ...others] = keys.slice(1).sort((a, b) => a.length - b.length);
    if (!shortest) break;
    const next = order === 'lock first' ? shortest : (others.at(-1) ?? shortest);
    expect(await askRedis(from.port, `MIGRATE 127.0.0.1 ${to.port} ${next} 0 1000`), `${next} is moved`).toMatch(
      /OK|NOKEY/,
    );
    await pause();
  }
  for (const { port } of [to, from, ...all]) await askRedis(port, `CLUSTER SETSLOT ${slot} NODE ${await idOf(to)}`);
}
