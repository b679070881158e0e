import { s3 } from '../../../src/backends/s3/index.ts';
import { describeConformanceByProxy } from '../../kit/proxied.ts';
import { s3Client, startS3 } from '../../kit/s3.ts';
import { describeOn } from '../../kit/suite.ts';

describeOn('s3', 'S3, by moto', () => {
  describeConformanceByProxy(
    // The emulator answers one request at a time, and needs the cores that other tests use.
    { name: 's3', timing: { ttl: 1_000, tolerance: 800 }, within: 90_000 },
    () => startS3(),
    (port, prefix) => {
      const client = s3Client(port);
      return { backend: s3(client, 'locks', { prefix }), end: () => client.destroy() };
    },
  );
});
