/** Blocks of the stores that can compare and set. */
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { manualClock, storeLaws } from '../../../products/testing/index.ts';
import { register } from '../../../src/backends/register/index.ts';
import { startDynamo } from '../../kit/dynamodb.ts';
import { startNats } from '../../kit/nats.ts';
import { memoryStore, shared } from '../../kit/register-store.ts';
import { startS3 } from '../../kit/s3.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { example } from '../block.ts';

const { table } = await example('docs/guides/your-own-engine.md', 'A store of your own')();
const db = new DatabaseSync(':memory:');
afterAll(() => db.close());

describe('the store of the guide keeps the laws of stores', () => {
  for (const { name, run } of storeLaws(async () => table(db))) test(name, run);
});
const clock = manualClock();
describeConformance({ name: 'the store of the guide', open: async () => register(table(db), { clock }), clock });

const access = `region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' }`;

test('register: one holds after the other', async () => {
  await example('docs/backends/register.md', 'In one minute', 4)({ store: memoryStore(shared()) });
});

describeOn('nats', 'the page of NATS', () => {
  test('its first block runs', async () => {
    await using server = await startNats();
    const made = await example(
      'docs/backends/register.md',
      'In one minute',
      3,
    )({}, { "'10.0.0.1,10.0.0.2,10.0.0.3'": `'127.0.0.1:${server.port}'`, '{ replicas: 3 }': '{}' });
    expect(made.bucket).toBeDefined();
    await made.connection.close();
  });
});

describeOn('s3', 'the page of S3', () => {
  test('its first block runs', { timeout: 90_000 }, async () => {
    await using server = await startS3();
    const made = await example('docs/backends/register.md', 'In one minute')(
      {},
      {
        "{ region: 'eu-central-1' }": `{ ${access}, endpoint: 'http://127.0.0.1:${server.port}', forcePathStyle: true }`,
        'my-bucket': 'locks',
      },
    );
    made.client.destroy();
  });
});

describeOn('dynamodb', 'the page of DynamoDB', () => {
  test('its first block runs', async () => {
    await using server = await startDynamo();
    const made = await example(
      'docs/backends/register.md',
      'In one minute',
      2,
    )({}, { "{ region: 'eu-central-1' }": `{ ${access}, endpoint: 'http://127.0.0.1:${server.port}' }` });
    made.client.destroy();
  });
});
