/** Something else, such as a middleware with a time limit, answers a request while it waits for the first one of its key. */
import 'reflect-metadata';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { type IdempotencyOptions, idempotency } from '../../src/idempotency/index.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { Idempotent, LocksModule } from '../../src/nestjs/index.ts';
import { settleWithin } from '../kit/wait.ts';

/** Has one route, whose handler is `work`. */
interface Service {
  readonly locks: Locks;
  readonly options: IdempotencyOptions<object>;
  readonly work: () => Promise<string>;
  /** Gets what the framework takes for a failure of the request. */
  readonly failed: (error: unknown) => void;
}

const LIMIT_MS = 20;

/** Answers a request that has the header `limited`, whatever comes after. */
function limit({ headers }: Pick<IncomingMessage, 'headers'>, response: ServerResponse): void {
  if (headers.limited) setTimeout(() => response.writeHead(503).end('too late'), LIMIT_MS);
}

async function onNest({ locks, options, work, failed }: Service): Promise<Server> {
  class Payments {
    pay(): Promise<string> {
      return work();
    }
  }
  const of = Object.getOwnPropertyDescriptor(Payments.prototype, 'pay')!;
  Post()(Payments.prototype, 'pay', of);
  Idempotent(options)(Payments.prototype, 'pay', of);
  Controller()(Payments);
  class App {}
  Module({ imports: [LocksModule.forRoot({ locks })], controllers: [Payments] })(App);
  const app = await NestFactory.create(App, { logger: false, abortOnError: false });
  app.useGlobalFilters({ catch: failed });
  app.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
    limit(request, response);
    next();
  });
  await app.init();
  return app.getHttpServer();
}

const SERVERS: Readonly<Record<string, (service: Service) => Server | Promise<Server>>> = {
  Express({ locks, options, work, failed }) {
    const app = express().use((request, response, next) => {
      limit(request, response);
      next();
    });
    app.post('/', idempotency(locks, options).express, async (_, response) => void response.send(await work()));
    return createServer(
      app.use(((error, _request, _response, _next) => failed(error)) satisfies express.ErrorRequestHandler),
    );
  },
  async Fastify({ locks, options, work, failed }) {
    const app = fastify();
    app.addHook('onRequest', async (request, reply) => limit(request, reply.raw));
    app.setErrorHandler(failed);
    app.post('/', { preHandler: idempotency(locks, options).fastify }, work);
    await app.ready();
    return app.server;
  },
  Nest: onNest,
};

const CASES = Object.keys(SERVERS).flatMap((name) => [[name, 201, '10s'] as const, [name, 409, '60ms'] as const]);

test.each(
  CASES,
)('%s: an answer (%i) for a request that something else has answered is dropped', async (name, late, wait) => {
  await using locks = createLocks(memory());
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const wrong: unknown[] = [];
  const note = (error: unknown): void => void wrong.push(error);
  const work = (): Promise<string> => {
    begun.resolve();
    return end.promise;
  };
  const server = await SERVERS[name]!({ locks, options: { scope: () => 'all', wait }, work, failed: note });
  process.on('unhandledRejection', note);
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const post = (more = {}): Promise<Response> =>
      fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
        method: 'POST',
        headers: { 'idempotency-key': 'k', ...more },
      });
    const first = post();
    await settleWithin('the first request is handled', begun.promise);
    expect((await post({ limited: 'yes' })).status, 'the time limit answers').toBe(503);
    const last = post(); // it waits behind the one with the limit, so it is answered after it
    if (late !== 409) end.resolve('done');
    expect((await last).status === 409, 'it waited for too long').toBe(late === 409);
    end.resolve('done');
    expect(await (await first).text(), 'the first one has its answer').toBe('done');
    await setImmediate();
    expect(wrong, 'neither a rejection that nobody handles nor a failure of the request').toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
    server.close();
    server.closeAllConnections();
  }
});

test.each(
  Object.keys(SERVERS),
)('%s: a request that something else has answered does not run its handler when its turn comes', async (name) => {
  await using locks = createLocks(memory());
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const wrong: unknown[] = [];
  let runs = 0;
  const work = (): Promise<string> => {
    runs++;
    begun.resolve();
    return end.promise;
  };
  const options = { scope: () => 'all', wait: '10s', keepStatus: () => false } as const;
  const server = await SERVERS[name]!({ locks, options, work, failed: (error) => void wrong.push(error) });
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const post = (more = {}): Promise<Response> =>
      fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
        method: 'POST',
        headers: { 'idempotency-key': 'k', ...more },
      });
    const first = post();
    await settleWithin('the first request is handled', begun.promise);
    expect((await post({ limited: 'yes' })).status, 'the time limit answers').toBe(503);
    const last = post(); // it waits behind the one with the limit
    end.resolve('done');
    expect([await (await first).text(), await (await last).text()]).toEqual(['done', 'done']);
    expect([runs, wrong], 'runs, and what the framework takes for failures').toEqual([2, []]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
