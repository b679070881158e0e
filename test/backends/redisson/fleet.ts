import { type RedissonOptions, redisson } from '../../../src/backends/redisson/index.ts';
import type { Backend } from '../../../src/core/index.ts';
import { type Fleet, type Library, owning } from '../redis/fleet.ts';

/** A backend over a client of its own, as another process would have. It ends the client when it is closed. */
export async function redissonOver(fleet: Fleet, library: Library, options?: RedissonOptions): Promise<Backend> {
  const opened = await fleet.open(library);
  return owning(redisson(opened.client, options), [opened]);
}
