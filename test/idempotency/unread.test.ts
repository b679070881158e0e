/** A body that no parser has read, behind the parsers of Express 4: they leave `{}` for each body that is not theirs. */
import { createServer } from 'node:http';
import express from 'express';
import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { idempotency } from '../../src/idempotency/index.ts';
import { createLocks } from '../../src/index.ts';
import { served } from './served.ts';

test('a body that no parser of Express 4 has read is refused; one that is empty is not', async () => {
  await using locks = createLocks(memory());
  const app = express().use(express.json(), (request, _, next) => {
    request.body ??= {};
    next();
  });
  app.post('/', idempotency(locks, { scope: () => 'all' }).express, (_, response) => void response.send('paid'));
  await using server = await served(createServer(app));
  const post = async (key: string, body?: string, type = 'application/json'): Promise<string> => {
    const headers = { 'idempotency-key': key, 'content-type': type };
    const answer = await fetch(server.url, { method: 'POST', headers, ...(body !== undefined && { body }) });
    return `${answer.status} ${answer.headers.has('idempotent-replayed')}`;
  };
  expect([await post('a', 'pay 5', 'text/plain'), await post('a', 'pay 9', 'text/plain')]).toEqual([
    '415 false',
    '415 false',
  ]);
  expect([await post('b', '{}'), await post('b', '{}'), await post('b', '{"amount":9}')]).toEqual([
    '200 false',
    '200 true',
    '422 false',
  ]);
  expect([await post('c'), await post('c')], 'no body at all').toEqual(['200 false', '200 true']);
});
