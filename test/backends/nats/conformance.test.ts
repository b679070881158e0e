import { Kvm } from '@nats-io/kv';
import { connect } from '@nats-io/transport-node';
import { nats } from '../../../src/backends/nats/index.ts';
import { startNats, startNatsCluster } from '../../kit/nats.ts';
import { describeConformanceByProxy } from '../../kit/proxied.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { engine } from './engine.ts';

const reads = async (port: number): Promise<boolean> => {
  const connection = await connect({ servers: `127.0.0.1:${port}`, timeout: 500 });
  const bucket = await new Kvm(connection).create('locks', { replicas: 3 });
  const answered = await nats(bucket)
    .release({ key: 'reads', id: 'nobody' })
    .then(
      () => true,
      () => false,
    );
  await connection.close();
  return answered;
};

const open = (replicas: number) => async (port: number, prefix?: string) => {
  // What the server tells of the others would lead around the proxy.
  const connection = await connect({
    servers: `127.0.0.1:${port}`,
    reconnectTimeWait: 50,
    ignoreClusterUpdates: true,
  });
  const backend = nats(await new Kvm(connection).create('locks', { replicas }), { prefix });
  return { backend, end: () => connection.close() };
};
const named = { name: 'nats', timing: engine.timing };

describeOn('nats', 'NATS', () => describeConformanceByProxy(named, () => startNats(), open(1)));

describeOn('nats', 'NATS, three replicas', () => {
  describeConformanceByProxy(
    named,
    async () => {
      const cluster = await startNatsCluster();
      // The leader of a new bucket answers writes before it answers reads.
      await until('the bucket answers', () => reads(cluster.servers[0]!.port));
      return { port: cluster.servers[0]!.port, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
    },
    open(3),
  );
});
