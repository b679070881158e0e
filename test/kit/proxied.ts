import { afterAll, beforeAll } from 'vitest';
import type { Subject, Timing } from '../../products/testing/index.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import type { Front } from './in-turn.ts';
import { type FaultProxy, startProxy } from './proxy.ts';
import { describeConformance, type Pace } from './suite.ts';

/** A client of its own for each backend, and how it ends. */
export interface OwnClient {
  readonly backend: Backend;
  end(): unknown;
}

interface Named {
  readonly name: string;
  readonly timing?: Timing;
  /** ms for the start of the server. */
  readonly within?: number;
  readonly pace?: Pace;
}

/**
 * The conformance suite on a server, each client of which has a proxy of its own: the proxy cuts it off when it dies, and keeps its
 * requests when the network stalls.
 * @param open opens a client to that port of loopback
 */
export function describeConformanceByProxy(
  { name, timing, within, pace }: Named,
  start: () => Promise<Front>,
  open: (port: number, prefix?: string) => OwnClient | Promise<OwnClient>,
): void {
  let server: Front;
  const proxies = new Map<Backend, FaultProxy>();
  const clients: OwnClient[] = [];

  beforeAll(async () => {
    server = await start();
  }, within);
  afterAll(async () => {
    for (const client of clients) await client.end();
    for (const proxy of proxies.values()) await proxy[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const opened = async (prefix?: string): Promise<Backend> => {
    const proxy = await startProxy(server.port);
    const client = await open(proxy.port, prefix);
    clients.push(client);
    proxies.set(client.backend, proxy);
    return client.backend;
  };

  const subject: Subject = {
    name,
    open: () => opened(),
    apart: () => opened('elsewhere'),
    timing,
    faults: {
      async die(client) {
        proxies.get(client)!.refuse();
        proxies.get(client)!.cut();
      },
      async stall(client) {
        proxies.get(client)!.stall('up');
        return async () => proxies.get(client)!.pass();
      },
    },
  };
  describeConformance(subject, pace);
}
