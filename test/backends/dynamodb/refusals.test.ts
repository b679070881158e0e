import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dynamodb } from '../../../src/backends/dynamodb/index.ts';
import { connect } from '../../../src/connect/index.ts';
import { createLocks } from '../../../src/index.ts';
import { dynamoClient, makeTable, startDynamo, startDynamoOfMoto, tableOf } from '../../kit/dynamodb.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';

const onDynamo = (start: () => Promise<Server>) => () => {
  let server: Server;
  beforeAll(async () => {
    server = await start();
  }, 90_000);
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
    await makeTable(raw, {
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

  test('a number as the key, and a sort key, are LOCK_INVALID, too', async () => {
    const { client, raw, end } = dynamoClient(server.port);
    await makeTable(raw, tableOf('N', 'numbers'));
    const sorted = tableOf('S', 'sorted');
    sorted.KeySchema.push({ AttributeName: 'sort', KeyType: 'RANGE' as 'HASH' });
    sorted.AttributeDefinitions.push({ AttributeName: 'sort', AttributeType: 'S' });
    await makeTable(raw, sorted);
    for (const table of ['numbers', 'sorted']) {
      await using locks = createLocks(dynamodb(client, table));
      await expect(locks.mutex('k').acquire({ wait: '1m' })).rejects.toMatchObject({
        code: 'LOCK_INVALID',
        message: expect.stringMatching(/string id.*no sort key/),
      });
    }
    end();
  });

  test('a lease shorter than what can be observed there is LOCK_INVALID', async () => {
    const { client, end } = dynamoClient(server.port);
    await using locks = createLocks(dynamodb(client, 'locks'));
    expect(() => locks.mutex('k', { ttl: 400 })).toThrow(
      expect.objectContaining({ code: 'LOCK_INVALID', message: expect.stringMatching(/ttl/) }),
    );
    end();
  });

  test('an item that somebody else wrote stays as it is', async () => {
    const { client, end } = dynamoClient(server.port);
    const theirs = { id: 'holdfast/l/theirs', total: 7 };
    await client.put({ TableName: 'locks', Item: theirs });
    await using locks = createLocks(dynamodb(client, 'locks'));
    await expect(locks.mutex('theirs').acquire({ wait: 0 })).rejects.toMatchObject({ code: 'LOCK_INVALID' });
    expect((await client.get({ TableName: 'locks', Key: { id: theirs.id } })).Item).toEqual(theirs);
    end();
  });

  test('connect opens a table', async () => {
    await using locks = await connect(server.url);
    expect(await locks.mutex('by-url').run(({ held }) => held)).toBe(true);
  });
};

/** What Amazon answers to a user without rights: no emulator here has rights for tables. */
test.each([
  ['AccessDeniedException', /dynamodb:GetItem and dynamodb:PutItem/],
  ['UnrecognizedClientException', /access key/],
])('%s is LOCK_UNAVAILABLE at once, with what to do', async (name, advice) => {
  let asked = 0;
  const refusal = createServer((_, response) => {
    asked++;
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ __type: `com.amazon.coral.service#${name}`, message: 'refused' }));
  });
  refusal.listen(0, '127.0.0.1');
  await once(refusal, 'listening');
  const { client, end } = dynamoClient((refusal.address() as AddressInfo).port);
  const locks = createLocks(dynamodb(client, 'locks'));
  await expect(locks.mutex('k').acquire({ wait: '1m' })).rejects.toMatchObject({
    code: 'LOCK_UNAVAILABLE',
    message: expect.stringMatching(advice),
  });
  expect(asked, 'requests').toBeLessThanOrEqual(2);
  await locks.close();
  end();
  refusal.close();
});

describeOn('dynamodb', 'DynamoDB, by dynalite', onDynamo(startDynamo));
describeOn(['dynamodb', 'moto'], 'DynamoDB, by moto', onDynamo(startDynamoOfMoto));
