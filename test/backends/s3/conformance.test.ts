import { describe } from 'vitest';
import { s3 } from '../../../src/backends/s3/index.ts';
import { type Front, startInTurn } from '../../kit/in-turn.ts';
import { describeConformanceByProxy } from '../../kit/proxied.ts';
import { S3MOCK, s3Client, startS3, startS3mock } from '../../kit/s3.ts';
import { describeOn, type Pace } from '../../kit/suite.ts';

function describeS3(start: () => Promise<Front>, pace?: Pace): void {
  describeConformanceByProxy(
    // The emulator answers one request at a time, and needs the cores that other tests use. A request may take a third of a lease at most.
    { name: 's3', timing: { ttl: 2_500, tolerance: 800 }, within: 120_000, ...(pace && { pace }) },
    start,
    (port, prefix) => {
      const client = s3Client(port);
      return { backend: s3(client, 'locks', { prefix }), end: () => client.destroy() };
    },
  );
}

describeOn('s3', 'S3, by moto', () => describeS3(startS3));

describe.skipIf(!S3MOCK)('S3, by s3mock, one request after another [needs its jar in S3MOCK]', () => {
  describeS3(async () => startInTurn(await startS3mock(S3MOCK!)), 'one by one');
});
