import { createRequire } from 'node:module';
import { S3 } from '@aws-sdk/client-s3';
import { exchange, freePort, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server } from './server.ts';

const BUCKET = 'locks';

/** moto, an emulator in one process: it checks the conditions of a write. It has a bucket for locks. */
export async function startS3(): Promise<Server> {
  const port = await freePort();
  const server = await Server.start({
    name: 'moto_server',
    port,
    url: `s3://test:test@${BUCKET}?endpoint=http://${HOST}:${port}&region=us-east-1`,
    command: program('moto', 'moto_server'),
    args: () => ['-H', HOST, '-p', `${port}`],
    ready: async () => (await exchange(port, 'GET /moto-api/ HTTP/1.0\r\n\r\n')).startsWith('HTTP/1'),
    within: 60_000,
  });
  await withBucket(port);
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
      createRequire(import.meta.url).resolve('s3rver/bin/s3rver.js'),
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
