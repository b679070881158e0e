import { MongoClient } from 'mongodb';
import { freePort, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server } from './server.ts';
import { until } from './wait.ts';

/** A real MongoDB: the one at MONGO_URL (one host or several), or a replica set of one member, started from a `mongod` on the PATH. */
export async function startMongo(): Promise<AsyncDisposable & { readonly url: string }> {
  const given = process.env.MONGO_URL;
  if (given) return { url: given, [Symbol.asyncDispose]: async () => {} };
  const port = await freePort();
  const url = `mongodb://${HOST}:${port}/?directConnection=true`;
  const command = async (document: object): Promise<Record<string, unknown>> => {
    await using client = await MongoClient.connect(url, { serverSelectionTimeoutMS: 500 });
    return await client.db('admin').command(document);
  };
  const server = await Server.start({
    name: 'mongod',
    port,
    url,
    command: program('mongodb', 'mongod'),
    args: (data) => ['--dbpath', data, '--port', String(port), '--bind_ip', HOST, '--replSet', 'rs'],
    ready: async () => (await command({ ping: 1 })).ok === 1,
  });
  await command({ replSetInitiate: { _id: 'rs', members: [{ _id: 0, host: `${HOST}:${port}` }] } });
  await until('the member is primary', async () => (await command({ hello: 1 })).isWritablePrimary === true);
  return server;
}
