import { createRequire } from 'node:module';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { startMoto } from './moto.ts';
import { exchange, freePort, HOST } from './net.ts';
import { Server } from './server.ts';

const TABLE = 'locks';
const access = { region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };

/** dynalite, an emulator: it checks the conditions of a write. It has a table for locks. */
export async function startDynamo(): Promise<Server> {
  const port = await freePort();
  const server = await Server.start({
    name: 'dynalite',
    port,
    url: `dynamodb://test:test@${TABLE}?endpoint=http://${HOST}:${port}&region=us-east-1`,
    command: process.execPath,
    args: () => [
      createRequire(import.meta.url).resolve('dynalite/cli.js'),
      '--port',
      `${port}`,
      '--host',
      HOST,
      '--createTableMs',
      '0',
      '--deleteTableMs',
      '0',
    ],
    ready: async () => (await exchange(port, 'GET / HTTP/1.0\r\n\r\n')).includes('healthy'),
  });
  await withTable(port);
  return server;
}

/** moto, another emulator, with a table for locks. */
export async function startDynamoOfMoto(): Promise<Server> {
  const server = await startMoto('dynamodb', TABLE);
  await withTable(server.port);
  return server;
}

async function withTable(port: number): Promise<void> {
  const client = new DynamoDB({ ...access, endpoint: `http://${HOST}:${port}` });
  try {
    await client.createTable(tableOf('S'));
  } finally {
    client.destroy();
  }
}

export const tableOf = (type: 'S' | 'N', TableName = TABLE) => ({
  TableName,
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: type }],
  BillingMode: 'PAY_PER_REQUEST' as const,
});

/** A client of documents of its own; `end` closes it. */
export function dynamoClient(port: number): { client: DynamoDBDocument; raw: DynamoDB; end: () => void } {
  const raw = new DynamoDB({ ...access, endpoint: `http://${HOST}:${port}`, maxAttempts: 2 });
  return { client: DynamoDBDocument.from(raw), raw, end: () => raw.destroy() };
}
