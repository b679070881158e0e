import { s3 } from '../../../src/backends/s3/index.ts';
import { describeConformanceByProxy } from '../../kit/proxied.ts';
import { s3Client, startS3 } from '../../kit/s3.ts';
import { describeOn } from '../../kit/suite.ts';

describeOn('s3', 'S3, by moto', () => {
  describeConformanceByProxy(
    // The emulator answers one request at a time, and needs the cores that other tests use. A request may take a third of a lease at most.
    { name: 's3', timing: { ttl: 2_500, tolerance: 800 }, within: 120_000 },
    () => startS3(),
    (port, prefix) => {
      const client = s3Client(port);
      return { backend: s3(client, 'locks', { prefix }), end: () => client.destroy() };
    },
  );
});
