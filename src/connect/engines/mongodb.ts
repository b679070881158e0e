import type { MongoClient } from 'mongodb';
import { invalid } from '../../core/index.ts';
import { CONNECT_LIMIT_MS, driver, type EngineUrl, openEngine } from '../engine.ts';
import { type Address, pick, safe } from '../url.ts';

export const mongodbUrl: EngineUrl = {
  schemes: ['mongodb', 'mongodb+srv'],
  example: 'mongodb://h1,h2,h3/app?replicaSet=rs0',
  ports: { 27017: 'mongodb' },
  params: 'any',
  async open(address) {
    const { MongoClient } = await driver('mongodb');
    const { mongodb } = await import('../../backends/mongodb/index.ts');
    const client = newClient(address, MongoClient);
    client.on('error', () => {}); // the failed calls show their errors
    const backend = mongodb(client.db(address.path || 'holdfast'), pick(address, 'prefix'));
    return openEngine(address, backend, () => client.close());
  },
};

/** The driver reads the URL itself, and throws if the URL is not good. */
function newClient(address: Address, Client: typeof MongoClient): MongoClient {
  try {
    return new Client(withoutPrefix(address.href), {
      serverSelectionTimeoutMS: CONNECT_LIMIT_MS,
      connectTimeoutMS: CONNECT_LIMIT_MS,
      retryWrites: false,
    });
  } catch (error) {
    throw invalid(`the URL ${address.shown} is not good: ${safe(address, error).message}`);
  }
}

/** `prefix` is our parameter, and the driver refuses unknown parameters. */
const withoutPrefix = (href: string): string =>
  href.replace(/([?&])prefix=[^&]*(&?)/, (_, before: string, after: string) => (after ? before : ''));
