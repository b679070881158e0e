import { S3 } from '@aws-sdk/client-s3';
import { startMoto } from './moto.ts';
import { exchange, freePort, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server } from './server.ts';

const BUCKET = 'locks';

/** moto, an emulator in one process: it checks the conditions of a write. It has a bucket for locks. */
export async function startS3(): Promise<Server> {
  const server = await startMoto('s3', BUCKET);
  await withBucket(server.port);
  return server;
}

/** s3rver, an emulator that says yes to every write, whatever its conditions are. */
export async function startLyingS3(): Promise<Server> {
  const port = await freePort();
  const server = await Server.start({
    name: 's3rver',
    port,
    url: `s3://S3RVER:S3RVER@${BUCKET}?endpoint=http://${HOST}:${port}&region=us-east-1`,
    command: process.execPath,
    args: (data) => [
      program('emulators', 'test/emulators/node_modules/s3rver/bin/s3rver.js'),
      '-d',
      data,
      '-a',
      HOST,
      '-p',
      `${port}`,
    ],
    ready: async () => (await exchange(port, 'GET / HTTP/1.0\r\n\r\n')).startsWith('HTTP/1'),
  });
  await withBucket(port, 'S3RVER');
  return server;
}

/** The jar `com.adobe.testing:s3mock`, of which Maven has one with the classifier `exec`. */
export const S3MOCK = process.env.S3MOCK;

/** s3mock, an emulator that checks the condition of a write apart from the write. */
export async function startS3mock(jar: string): Promise<Server> {
  const [port, tls] = [await freePort(), await freePort()];
  const server = await Server.start({
    name: 's3mock',
    port,
    url: `s3://test:test@${BUCKET}?endpoint=http://${HOST}:${port}&region=us-east-1`,
    command: 'java',
    args: (data) => [
      ...['-jar', jar, `--server.address=${HOST}`, `--server.port=${tls}`],
      ...[`--com.adobe.testing.s3mock.httpPort=${port}`, `--com.adobe.testing.s3mock.store.root=${data}`],
    ],
    ready: async () => (await exchange(port, 'GET / HTTP/1.0\r\n\r\n')).startsWith('HTTP/1'),
    within: 120_000,
  });
  await withBucket(port);
  return server;
}

async function withBucket(port: number, user?: string): Promise<void> {
  const client = s3Client(port, user);
  try {
    await client.createBucket({ Bucket: BUCKET });
  } finally {
    client.destroy();
  }
}

export const s3Client = (port: number, user = 'test'): S3 =>
  new S3({
    region: 'us-east-1',
    endpoint: `http://${HOST}:${port}`,
    credentials: { accessKeyId: user, secretAccessKey: user },
    forcePathStyle: true,
  });
