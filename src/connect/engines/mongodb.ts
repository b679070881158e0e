import type { MongoClient } from 'mongodb';
import { invalid } from '../../core/errors.ts';
import { CONNECT_WITHIN } from '../bounded.ts';
import { driver } from '../driver.ts';
import { type EngineUrl, opened, owning } from '../engine.ts';
import { type Address, picked, safe } from '../url.ts';

export const mongodbUrl: EngineUrl = {
  schemes: ['mongodb', 'mongodb+srv'],
  example: 'mongodb://h1,h2,h3/app?replicaSet=rs0',
  params: 'any',
  async open(address) {
    const { MongoClient } = await driver('mongodb');
    const { mongodb } = await import('../../backends/mongodb/index.ts');
    const client = made(address, MongoClient);
    client.on('error', () => {}); // told by the calls that fail
    const backend = mongodb(client.db(address.path || 'holdfast'), picked(address, 'prefix'));
    return opened(
      address,
      owning(backend, () => client.close()),
    );
  },
};

/** The driver reads the URL itself, and says what it does not like about it. */
function made(address: Address, Client: typeof MongoClient): MongoClient {
  try {
    return new Client(withoutPrefix(address.href), {
      serverSelectionTimeoutMS: CONNECT_WITHIN,
      connectTimeoutMS: CONNECT_WITHIN,
      retryWrites: false,
    });
  } catch (error) {
    throw invalid(`the URL ${address.shown} is not good: ${safe(address, error).message}`);
  }
}

/** The driver refuses what it does not know, and `prefix` is ours. */
const withoutPrefix = (href: string): string =>
  href.replace(/([?&])prefix=[^&]*(&?)/, (_, before: string, after: string) => (after ? before : ''));
