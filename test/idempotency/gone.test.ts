/** The client of a request is gone before its handler has answered. */
import { once } from 'node:events';
import { request as call, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import express from 'express';
import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { idempotency } from '../../src/idempotency/index.ts';
import { createLocks } from '../../src/index.ts';
import { settleWithin } from '../kit/wait.ts';

const PART = Buffer.alloc(100_000);
type Answering = (response: express.Response, closed: Promise<unknown>) => Promise<void>;

/**
 * Sends a request, whose client soon leaves, and then the same request again.
 * @param before what comes before the first handler @param handler the first handler
 * @returns the status of the second answer
 */
async function askTwice(before: Answering, handler: Answering): Promise<number> {
  await using locks = createLocks(memory());
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const app = express();
  let runs = 0;
  app.use(async (request, response, next) => {
    const isFirst = request.get('x-first') !== undefined;
    if (isFirst) response.locals.closed = once(response, 'close');
    if (isFirst) begun.resolve();
    if (isFirst) await before(response, response.locals.closed);
    next();
  });
  app.post('/', idempotency(locks, { scope: () => 'all' }).express, async (_, response) => {
    if (++runs > 1) return void response.sendStatus(201);
    await handler(response, response.locals.closed);
    ended.resolve();
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const headers = { 'idempotency-key': 'k' };
    const first = call({ port, host: '127.0.0.1', method: 'POST', headers: { ...headers, 'x-first': 'yes' } });
    first.on('error', () => {}); // the client ends its own connection
    first.end();
    await settleWithin('the request is there', begun.promise);
    setTimeout(() => first.destroy(), 50);
    await settleWithin('the handler ends', ended.promise);
    return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers })).status;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const atOnce: Answering = async () => {};
const onceGone: Answering = (_, closed) => closed as Promise<never>;
const writeMuch: Answering = async (response) => {
  for (let i = 0; i < 10; i++) response.write(PART);
  response.end();
};

test.each([
  ['before its handler began', onceGone, writeMuch],
  [
    'while its handler worked',
    atOnce,
    async (response, closed) => {
      await closed;
      await writeMuch(response, closed);
    },
  ],
] satisfies [
  string,
  Answering,
  Answering,
][])('a large answer to a client that is gone frees the key, also if it was gone %s', async (_, before, handler) => {
  expect(await askTwice(before, handler), 'the request was done, and its answer could not be kept').toBe(500);
});

test('a stream to a client that is gone frees the key, although a pipe ends no response that was closed', async () => {
  const stream = new PassThrough();
  const status = askTwice(atOnce, async (response, closed) => {
    stream.pipe(response);
    stream.write(PART);
    await closed;
    stream.end(PART);
  });
  expect(await status, 'there was no whole answer, so the handler runs again').toBe(201);
});

test('an answer that ends after its client is gone, in the middle of its parts, is not kept as a whole one', async () => {
  const status = askTwice(atOnce, async (response, closed) => {
    response.write(PART);
    await closed;
    response.end(); // the handler saw that nobody reads the rest
  });
  expect(await status, 'the request was done, and its answer could not be kept').toBe(500);
});

test.each([
  ['before its handler began', onceGone],
  ['while its handler worked', atOnce],
] satisfies [
  string,
  Answering,
][])('a file for a client that is gone frees the key, also if it was gone %s', async (_, before) => {
  const status = askTwice(before, async (response, closed) => {
    await closed;
    response.sendFile(import.meta.filename);
  });
  expect(await status, 'there was no whole answer, so the handler runs again').toBe(201);
});

test('a request whose whole answer goes through a pipe after its client is gone is not done again', async () => {
  const status = askTwice(atOnce, async (response, closed) => {
    await closed;
    Readable.from([PART]).pipe(response);
  });
  expect(await status, 'the request was done, and its answer could not be kept').toBe(500);
});
