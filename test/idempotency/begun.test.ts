/** A handler begins its answer and then fails, so its framework answers the error instead. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import express from 'express';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { idempotency } from '../../src/idempotency/index.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { served } from './served.ts';

type Begin = (response: ServerResponse) => unknown;
const options = { scope: () => 'all' };

/** A server of each framework whose only handler calls `begin`. */
const SERVERS: Readonly<Record<string, (locks: Locks, begin: Begin) => Server | Promise<Server>>> = {
  Express(locks, begin) {
    const app = express().set('env', 'test'); // it logs no errors
    app.post('/', idempotency(locks, options).express, async (_, response) => {
      await begin(response);
    });
    return createServer(app);
  },
  async Fastify(locks, begin) {
    const app = fastify();
    app.post('/', { preHandler: idempotency(locks, options).fastify }, async (_, reply) => {
      await begin(reply.raw);
      return reply.hijack();
    });
    await app.ready();
    return app.server;
  },
};
const names = Object.keys(SERVERS);

/** Gives the status, the body, and whether it is a replay, of two requests with one key. */
async function askTwice(name: string, begin: Begin) {
  await using locks = createLocks(memory());
  await using server = await served(await SERVERS[name]!(locks, begin));
  const answers = [await server.post('/'), await server.post('/')];
  return answers.map(({ status, headers, text }) => ({
    status,
    headers,
    text,
    again: headers.get('idempotent-replayed'),
  }));
}

const failing = (status: number): Error => Object.assign(new Error('failed'), { status, statusCode: status });

test.each(
  names,
)('%s: a handler that fails after `writeHead` gets the answer of its error, and ends no process', async (name) => {
  const [first, again] = await askTwice(name, async (response) => {
    response.writeHead(200, 'Fine', { 'x-of-handler': 'yes' });
    await Promise.resolve();
    throw failing(422);
  });
  expect([first?.status, again?.status, again?.again]).toEqual([422, 422, 'true']);
  expect(first?.text).toMatch(/failed|Unprocessable/);
  expect(again?.text).toBe(first?.text);
});

test.each([
  ['an object', { 'x-one': '2', 'x-two': ['a', 'b'] }],
  ['a list', ['x-one', '2', 'x-two', 'a', 'x-two', 'b']],
])('the headers that `writeHead` gets in %s take the place of earlier ones, and are kept', async (_, headers) => {
  const answers = await askTwice('Express', (response) => {
    response.setHeader('x-one', '1');
    response.writeHead(201, 'Made', headers).end('done');
  });
  for (const { status, headers, text } of answers)
    expect([status, headers.get('x-one'), headers.get('x-two'), text]).toEqual([201, '2', 'a, b', 'done']);
});

test.each(
  names,
)('%s: a handler that fails after a part of its answer gets the answer of its error alone', async (name) => {
  const [first, again] = await askTwice(name, async (response) => {
    response.write('[{"id":1},');
    await Promise.resolve();
    throw failing(404);
  });
  expect([first?.status, again?.status, again?.again]).toEqual([404, 404, 'true']);
  expect(first?.text).toMatch(/^[<{]/);
  expect(again?.text).toBe(first?.text);
});

test.each(names)('%s: the status and the headers of a second answer are dropped with it', async (name) => {
  const answers = await askTwice(name, (response) => {
    response.writeHead(201, { 'content-type': 'text/plain' }).end('paid');
    response.setHeader('content-type', 'text/html');
    response.setHeader('content-length', 100); // its client would wait for so many bytes
    response.statusCode = 500;
    response.end('<p>'.padEnd(100));
  });
  for (const { status, headers, text } of answers)
    expect([status, headers.get('content-type'), text]).toEqual([201, 'text/plain', 'paid']);
});
