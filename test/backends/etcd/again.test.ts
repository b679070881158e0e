import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcd } from '../../../src/backends/etcd/index.ts';
import { startEtcd } from '../../kit/etcd.ts';
import { freePort, HOST } from '../../kit/net.ts';
import { startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { claimOf, endpoint, keys } from './etcdctl.ts';

/** Passes every call on, those to `slow` only after `ms`: a server may serve the calls of one connection in any order. */
async function startGateway(target: number, slow: string, ms: number): Promise<AsyncDisposable & { port: number }> {
  const port = await freePort();
  const server = createServer();
  const upstream = connect(`http://${HOST}:${target}`);
  server.on('stream', async (down, headers) => {
    const chunks: Buffer[] = [];
    down.on('error', () => {}).on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(down, 'end');
    if (headers[':path']?.endsWith(slow)) await sleep(ms);
    const { ':path': path, 'content-type': type } = headers;
    const up = upstream.request({ ':method': 'POST', ':path': path, 'content-type': type, te: 'trailers' });
    let trailers = {};
    up.on('error', () => {}).on('trailers', (received) => {
      trailers = { 'grpc-status': received['grpc-status'], 'grpc-message': received['grpc-message'] ?? '' };
    });
    up.on('response', (received) => {
      if (down.destroyed) return;
      const status = received['grpc-status'];
      const refusal = status === undefined ? {} : { 'grpc-status': status, 'grpc-message': received['grpc-message'] };
      down.respond({ ':status': 200, 'content-type': 'application/grpc', ...refusal }, { waitForTrailers: true });
      down.on('wantTrailers', () => down.sendTrailers(trailers));
      up.pipe(down);
    });
    up.end(Buffer.concat(chunks));
  });
  server.listen(port, HOST);
  await once(server, 'listening');
  return {
    port,
    async [Symbol.asyncDispose]() {
      upstream.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

describeOn('etcd', 'a claim that asks again', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startEtcd();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  test('while its last attempt is taken back, is not granted what goes with that', async () => {
    await using silent = await startProxy(server.port);
    await using gateway = await startGateway(server.port, 'LeaseRevoke', 150);
    const backend = etcd({ endpoints: [silent, gateway].map(endpoint), timeout: 300 });
    const earlier = claimOf('earlier');
    await backend.attempt(earlier);
    await backend.release(earlier); // its lease is there for the next
    const claim = claimOf('again', { within: 300 });
    silent.stall('up');
    const first = backend.attempt(claim).catch(() => undefined);
    await sleep(340); // no answer within its time: by now its lease is being ended
    const second = await backend.attempt(claim);
    await first;
    await sleep(200);
    expect(second.granted).toBe((await keys([server])).some((key) => key.includes('again')));
    await silent.pass();
    await backend.release(claim);
    await backend.close();
  });
});
