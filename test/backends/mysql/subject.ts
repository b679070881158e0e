import type { PoolOptions } from 'mysql2/promise';
import type { Subject } from '../../../products/testing/index.ts';
import type { MysqlPool } from '../../../src/backends/mysql/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import { settleWithin } from '../../kit/wait.ts';
import type { Host } from './server.ts';

type Make = (pool: MysqlPool, prefix: string) => Backend;

/** A backend on trial: each client has a pool and a link of its own, which can be cut and stalled. */
export function subject(name: string, host: Host, make: Make, options: PoolOptions = {}): Subject {
  const links = new Map<Backend, FaultProxy>();
  const open = async (prefix: string): Promise<Backend> => {
    const link = await startProxy(host.server.port);
    const pool = host.pool({ ...options, port: link.port });
    const backend = make(pool, prefix);
    const close = backend.close.bind(backend);
    links.set(backend, link);
    backend.close = async () => {
      await close();
      if (!links.delete(backend)) return;
      await link.pass(); // for the goodbye of the pool
      // mysql2 (3.24) never calls back for a connection that is destroyed meanwhile, as one without an answer is.
      await settleWithin('the pool ends', pool.end(), 2_000).catch(() => {});
      await link[Symbol.asyncDispose]();
    };
    return backend;
  };
  return {
    name,
    open: () => open('one'),
    apart: () => open('two'),
    timing: { ttl: 1_200, tolerance: 400 }, // many small statements on a disk that others use too
    faults: {
      // A pool would connect again, which the dead do not.
      die: async (client) => {
        links.get(client)!.refuse();
        links.get(client)!.cut();
      },
      stall: async (client) => {
        links.get(client)!.stall('up');
        return async () => links.get(client)?.pass();
      },
    },
  };
}
