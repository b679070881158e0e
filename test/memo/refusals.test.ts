import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { S3 } from '@aws-sdk/client-s3';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { createPool } from 'mysql2';
import pg from 'pg';
import { expect, test } from 'vitest';
import { dynamodb } from '../../src/backends/dynamodb/index.ts';
import { mysqlNamed } from '../../src/backends/mysql/index.ts';
import { postgresAdvisory } from '../../src/backends/postgres/index.ts';
import { register } from '../../src/backends/register/index.ts';
import { s3 } from '../../src/backends/s3/index.ts';
import { type Backend, createLocks } from '../../src/index.ts';
import { memoryStore, shared } from '../kit/register-store.ts';

/** Made, and asked nothing: no server is needed to know that there is no place for words. */
const WITHOUT: readonly (readonly [string, () => Backend])[] = [
  ['advisory locks of PostgreSQL', () => postgresAdvisory(new pg.Pool())],
  ['named locks of MySQL', () => mysqlNamed(createPool({ host: '127.0.0.1' }))],
  ['S3', () => s3(new S3({ region: 'us-east-1' }), 'locks')],
  ['DynamoDB', () => dynamodb(DynamoDBDocument.from(new DynamoDB({ region: 'us-east-1' })), 'locks')],
  ['a register', () => register(memoryStore(shared()))],
];

test.each(WITHOUT)('%s: no result is kept; a refusal says so before anything runs', async (_, open) => {
  const backend = open();
  await using locks = createLocks(backend);
  expect(backend.values).toBeUndefined();
  expect(() => locks.memo('key')).toThrow(
    expect.objectContaining({
      code: 'LOCK_UNSUPPORTED',
      message: expect.stringMatching(new RegExp(`${backend.name}.*keep a result under a key`)),
    }),
  );
});
