/** What a replay has, and what it leaves out. */
import { createServer } from 'node:http';
import express from 'express';
import { fastify } from 'fastify';
import { type Context, Hono } from 'hono';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { idempotency } from '../../src/idempotency/index.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { served } from './served.ts';

const options = { scope: () => 'all' };
let locks: Locks;
beforeEach(() => {
  locks = createLocks(memory());
});
afterEach(() => locks.close());

test.each<[string, (context: Context) => Response]>([
  ['of Hono', (context) => context.text('done', 201, { 'cache-control': 'private' })],
  ['of its own', () => new Response('done', { status: 201, headers: { 'cache-control': 'private' } })],
])('Hono: a header of a middleware before the handler is not repeated, also for a response %s', async (_, handler) => {
  let id = 0;
  const app = new Hono().use(async (context, next) => {
    context.header('x-request-id', `${++id}`);
    context.header('cache-control', 'no-store');
    await next();
  });
  app.post('/', (context, next) => idempotency(locks, options).hono(context, next), handler);
  const post = () => app.request('/', { method: 'POST', headers: { 'idempotency-key': 'k' }, body: '{}' });
  await post();
  const { status, headers } = await post();
  expect([status, headers.get('x-request-id'), headers.get('cache-control')]).toEqual([201, '2', 'private']);
});

test('Fastify: a replay without a body has no type of a body', async () => {
  const app = fastify();
  app.post('/', { preHandler: idempotency(locks, options).fastify }, async (_, reply) => reply.code(201).send());
  await app.ready();
  await using server = await served(app.server);
  const answers = [await server.post('/'), await server.post('/')];
  expect(
    answers.map(({ status, headers }) => [status, headers.get('content-type'), headers.get('content-length')]),
  ).toEqual(Array(2).fill([201, null, '0']));
});

test.each([
  204, 304,
])('a replay with status %i has no body and no length, although its handler gave a body', async (status) => {
  const app = express().post('/', idempotency(locks, options).express, (_, response) => {
    response.statusCode = status;
    response.end('x');
  });
  await using server = await served(createServer(app));
  const answers = [await server.post('/'), await server.post('/')];
  expect(answers.map((answer) => [answer.status, answer.headers.get('content-length'), answer.text])).toEqual(
    Array(2).fill([status, null, '']),
  );
  expect(answers[1]?.headers.get('idempotent-replayed')).toBe('true');
});
