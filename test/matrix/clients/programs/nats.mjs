import { nats } from 'holdfast/nats';
import { fromOldest } from './oldest.mjs';

export async function open({ url, urls = [url], oldest }) {
  const load = oldest ? fromOldest : (name) => import(name);
  const [{ connect }, { Kvm }] = [await load('@nats-io/transport-node'), await load('@nats-io/kv')];
  return {
    async backend(prefix) {
      const connection = await connect({
        servers: urls.map((each) => new URL(each).host),
        maxReconnectAttempts: -1,
        reconnectTimeWait: 100,
      });
      const bucket = await new Kvm(connection).create('locks', { replicas: urls.length });
      return { backend: nats(bucket, { prefix }), end: () => connection.close() };
    },
  };
}
