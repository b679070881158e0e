import { afterAll, beforeAll, expect, test } from 'vitest';
import { dynamodb } from '../../../src/backends/dynamodb/index.ts';
import { connect } from '../../../src/connect/index.ts';
import { createLocks } from '../../../src/index.ts';
import { dynamoClient, startDynamo } from '../../kit/dynamodb.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';

describeOn('dynamodb', 'DynamoDB', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startDynamo();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  test('one write takes a lock, and one gives it back', async () => {
    const { client, end } = dynamoClient(server.port);
    const asked: string[] = [];
    const counting = new Proxy(client, {
      get: (target, name) => {
        const member = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...input: unknown[]) => {
          asked.push(String(name));
          return member.apply(target, input);
        };
      },
    });
    await using locks = createLocks(dynamodb(counting, 'locks'));
    await locks.mutex('first').run(() => {}); // with it comes the proof of the table
    asked.length = 0;
    const lease = await locks.mutex('counted').acquire();
    expect(asked).toEqual(['put']);
    await lease.release();
    expect(asked).toEqual(['put', 'put']);
    await (await locks.mutex('counted').acquire()).release();
    expect(asked).toEqual(['put', 'put', 'put', 'put']);
    end();
  });

  test('a table with another key is LOCK_INVALID, one that is not there LOCK_UNAVAILABLE, with the key that it needs', async () => {
    const { client, raw, end } = dynamoClient(server.port);
    await raw.createTable({
      TableName: 'other',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      BillingMode: 'PAY_PER_REQUEST',
    });
    for (const [table, code] of [
      ['other', 'LOCK_INVALID'],
      ['nowhere', 'LOCK_UNAVAILABLE'],
    ] as const) {
      await using locks = createLocks(dynamodb(client, table));
      await expect(locks.mutex('k').acquire({ wait: '1m' })).rejects.toMatchObject({
        code,
        message: expect.stringContaining('the string id'),
      });
    }
    end();
  });

  test('connect opens a table', async () => {
    await using locks = await connect(server.url);
    expect(await locks.mutex('by-url').run(({ held }) => held)).toBe(true);
  });
});
