import { Kvm } from '@nats-io/kv';
import { connect } from '@nats-io/transport-node';
import { nats } from '../../../src/backends/nats/index.ts';
import { startNats } from '../../kit/nats.ts';
import { describeConformanceByProxy } from '../../kit/proxied.ts';
import { describeOn } from '../../kit/suite.ts';

describeOn('nats', 'NATS', () => {
  describeConformanceByProxy(
    { name: 'nats', timing: { ttl: 700, tolerance: 350 } },
    () => startNats(),
    async (port, prefix) => {
      const connection = await connect({ servers: `127.0.0.1:${port}`, reconnectTimeWait: 50 });
      const backend = nats(await new Kvm(connection).create('locks'), { prefix });
      return { backend, end: () => connection.close() };
    },
  );
});
