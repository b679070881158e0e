import { afterAll, beforeAll } from 'vitest';
import { startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { Fleet } from './fleet.ts';

/** One server and a fleet of its clients, for all tests of a `describe` block. */
export function sharedFleet(): { readonly server: Server; readonly fleet: Fleet } {
  let server: Server;
  let fleet: Fleet;
  beforeAll(async () => {
    server = await startRedis();
    fleet = new Fleet(server.port);
  });
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  return {
    get server() {
      return server;
    },
    get fleet() {
      return fleet;
    },
  };
}
