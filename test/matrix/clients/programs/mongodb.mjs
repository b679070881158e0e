import { mongodb } from 'holdfast/mongodb';

export async function open({ client: name, url, options = {} }) {
  const { MongoClient } = await import(name);
  return {
    async backend(prefix) {
      const client = await MongoClient.connect(url, options);
      return { backend: mongodb(client.db('holdfast'), { prefix }), end: () => client.close(true) };
    },
  };
}
