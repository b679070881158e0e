import { MongoClient } from 'mongodb';
import { afterAll, beforeAll } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import type { Faults } from '../../../products/testing/index.ts';
import { mongodb } from '../../../src/backends/mongodb/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { startMongo } from '../../kit/mongodb.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { startLineStub } from './line-stub.ts';

type Start = () => Promise<AsyncDisposable & { readonly url: string }>;

async function throughProxy(server: string): Promise<{ url: string; proxy: FaultProxy }> {
  const url = new URL(server);
  const proxy = await startProxy(Number(url.port));
  url.port = String(proxy.port);
  return { url: url.href, proxy };
}

/** The suite with a client for each backend, and a proxy before it where the server is ours. */
function conforms(name: string, start: Start, proxied: boolean): void {
  let server: Awaited<ReturnType<Start>>;
  const clients: MongoClient[] = [];
  const proxies = new Map<Backend, FaultProxy>();

  const open = async (prefix?: string): Promise<Backend> => {
    const behind = proxied ? await throughProxy(server.url) : undefined;
    const client = await MongoClient.connect(behind?.url ?? server.url);
    clients.push(client);
    const engine = mongodb(client.db('holdfast_test'), { prefix });
    // The stub is no replica set, and only that tells of changes.
    const backend = proxied ? around(engine, { watchHold: undefined }) : engine;
    if (behind) proxies.set(backend, behind.proxy);
    return backend;
  };
  const faults: Faults = {
    async die(client) {
      proxies.get(client)!.refuse();
      proxies.get(client)!.cut();
    },
    async stall(client) {
      proxies.get(client)!.stall('up');
      return () => proxies.get(client)!.pass();
    },
  };

  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close(true)));
    await Promise.all([...proxies.values()].map((proxy) => proxy[Symbol.asyncDispose]()));
    await server?.[Symbol.asyncDispose]();
  });
  describeConformance({
    name,
    open: () => open(),
    apart: () => open('elsewhere'),
    timing: { tolerance: 400 }, // where nobody wakes the waiters, they ask every 250 ms
    ...(proxied && { faults }),
  });
}

describeOn('mongodb', 'MongoDB', () => conforms('mongodb', startMongo, !process.env.MONGO_URL));

describeOn([], 'a stub of MongoDB, which shows our side only', () =>
  conforms('mongodb on a stub', startLineStub, true),
);
