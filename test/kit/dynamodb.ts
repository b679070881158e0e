import { type CreateTableCommandInput, DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { startMoto } from './moto.ts';
import { exchange, freePort, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server } from './server.ts';
import { until } from './wait.ts';

const TABLE = 'locks';
const access = { region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };

/** dynalite throws where a client cuts its request off, and would end: a server does not. */
const OUTLIVES_CUTS = `data:text/javascript,process.on('uncaughtException', (error) => { if (error.code !== 'ECONNRESET') throw error; })`;

/** dynalite, an emulator: it checks the conditions of a write. It has a table for locks. */
export async function startDynamo(): Promise<Server> {
  const port = await freePort();
  const server = await Server.start({
    name: 'dynalite',
    port,
    url: `dynamodb://test:test@${TABLE}?endpoint=http://${HOST}:${port}&region=us-east-1`,
    command: process.execPath,
    args: () => [
      '--import',
      OUTLIVES_CUTS,
      program('emulators', 'test/emulators/node_modules/dynalite/cli.js'),
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
    await makeTable(client, tableOf('S'));
  } finally {
    client.destroy();
  }
}

/** A table is not there yet when the answer to its creation comes. */
export async function makeTable(client: DynamoDB, table: CreateTableCommandInput): Promise<void> {
  await client.createTable(table);
  const { TableName } = table;
  await until(`the table ${TableName} is there`, async () => {
    return (await client.describeTable({ TableName })).Table?.TableStatus === 'ACTIVE';
  });
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
