import { slotOf } from '../../../src/backends/redis/port.ts';
import { askRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';

/** Keys of locks in slots that a server has. */
export async function keysAt({ port }: Server): Promise<(name: string) => string> {
  const nodes = await askRedis(port, 'CLUSTER NODES');
  const ranges = [.../myself,master .* connected (.*)/.exec(nodes)![1]!.matchAll(/(\d+)-(\d+)/g)];
  const here = (slot: number): boolean => ranges.some(([, from, to]) => slot >= Number(from) && slot <= Number(to));
  return (name) => {
    for (let i = 0; ; i++) if (here(slotOf(`{${name}:${i}}`))) return `${name}:${i}`;
  };
}
