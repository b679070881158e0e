import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { uiHandler } from '../../products/ui/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';
import { settleWithin } from '../kit/wait.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function served(answer: Answer): Promise<{ server: Server; events: string }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, events: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events` };
}

test('a user who leaves while a login takes its time leaves no page behind that asks the engine', async () => {
  const backend = memory();
  let looks = 0;
  const counted: typeof backend.inspect = (...args) => {
    looks++;
    return backend.inspect!(...args);
  };
  await using locks = createLocks(around(backend, { inspect: counted }));
  const page = uiHandler(locks);
  const left = Promise.withResolvers<void>();
  const { server, events } = await served((request, response) => {
    response.once('close', () => {
      page(request, response);
      left.resolve();
    });
    asked.destroy();
  });
  const asked = get(events).on('error', () => {});
  await left.promise;
  await sleep(1_500); // a page that is open is looked at once a second
  page.close();
  server.close();
  expect(looks).toBe(0);
});

test('after close() the server can close, also when a browser asks once more in between', async () => {
  await using locks = createLocks(memory());
  const page = uiHandler(locks);
  const { server, events } = await served(page);
  page.close();
  const asked = get(events);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  const closed = once(server, 'close');
  server.close();
  try {
    await settleWithin('the server closes', closed);
    expect(response.statusCode).toBe(503);
  } finally {
    page.close();
    asked.destroy();
  }
});
