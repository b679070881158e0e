import 'reflect-metadata';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { serve as serveHono } from '@hono/node-server';
import { Body, Controller, HttpException, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { type IdempotencyOptions, idempotency, runOf } from '../../src/idempotency/index.ts';
import type { Locks } from '../../src/index.ts';
import { Idempotent, LocksModule } from '../../src/nestjs/index.ts';

export interface Order {
  readonly act: string;
  readonly id: string;
}

/** What a handler answers: with a status from 400 on, as an error of its framework. */
export interface Said {
  readonly status: number;
  readonly body: string | readonly Buffer[];
  readonly fails?: boolean;
}

export type Work = (order: Order, token: bigint | undefined) => Promise<Said>;

/** Starts one framework with one route, on a free port. @returns its URL, and how to end it */
export type Start = (
  locks: Locks,
  work: Work,
  options?: Omit<IdempotencyOptions, 'scope'>,
) => Promise<[string, () => unknown]>;

type Caller = { readonly headers: Readonly<Record<string, unknown>> };
const scope = ({ headers }: Caller): string => String(headers.account ?? 'nobody');
const HEADERS = { location: '/payments/1', 'set-cookie': 'session=secret', 'x-parts': ['a', 'b'] };
const jsonOf = (said: Said): string | undefined => (typeof said.body === 'string' ? said.body : undefined);

async function listening(server: Server): Promise<[string, () => unknown]> {
  if (!server.listening) await once(server, 'listening');
  const end = (): unknown => server.close() && server.closeAllConnections();
  return [`http://127.0.0.1:${(server.address() as AddressInfo).port}`, end];
}

function sayOn(response: ServerResponse, said: Said): void {
  response.setHeader('content-type', 'application/json');
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  const text = jsonOf(said);
  if (text !== undefined) {
    response.writeHead(said.status).end(text);
    return;
  }
  response.writeHead(said.status);
  Readable.from(said.body as Buffer[]).pipe(response);
}

const onExpress: Start = (locks, work, options) => {
  const app = express().use(express.json({ limit: '2mb' }));
  app.use((request, response, next) => {
    response.set('x-request-id', String(request.get('x-request-id') ?? ''));
    next();
  });
  const { express: middleware } = idempotency(locks, {
    scope: scope as (request: express.Request) => string,
    ...options,
  });
  app.all('/payments{/:id}', middleware, async (request, response) => {
    const said = await work(request.body, runOf(request)?.token);
    if (said.fails) throw Object.assign(new Error('failed'), { status: said.status });
    sayOn(response, said);
  });
  app.use(((error, _request, response, _next) => {
    response.status(error.status ?? 500).json({ error: error.code ?? 'failed' });
  }) satisfies express.ErrorRequestHandler);
  return listening(app.listen(0, '127.0.0.1'));
};

const onFastify: Start = async (locks, work, options) => {
  const app = fastify({ forceCloseConnections: true, bodyLimit: 2_000_000 });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.headers['x-request-id'] ?? '');
  });
  const { fastify: preHandler } = idempotency(locks, { scope, ...options });
  for (const url of ['/payments', '/payments/:id'])
    app.all(url, { preHandler }, async (request, reply) => {
      const said = await work(request.body as Order, runOf(request)?.token);
      if (said.fails) throw Object.assign(new Error('failed'), { statusCode: said.status });
      reply.code(said.status).type('application/json').headers(HEADERS);
      return reply.send(jsonOf(said) ?? Readable.from(said.body as Buffer[]));
    });
  return [await app.listen({ host: '127.0.0.1', port: 0 }), () => app.close()];
};

const onHono: Start = (locks, work, options) => {
  const app = new Hono();
  const { hono } = idempotency<import('hono').Context>(locks, {
    scope: ({ req }) => req.header('account') ?? 'nobody',
    ...options,
  });
  app.use(async (context, next) => {
    await next();
    context.res.headers.set('x-request-id', context.req.header('x-request-id') ?? '');
  });
  app.all('/payments/:id?', hono, async (context) => {
    const said = await work(await context.req.json(), runOf(context)?.token);
    if (said.fails) throw new Error('failed');
    const headers = new Headers({ 'content-type': 'application/json' });
    for (const [name, value] of Object.entries(HEADERS)) headers.set(name, String(value).replace(',', ', '));
    const stream = (): ReadableStream => Readable.toWeb(Readable.from(said.body as Buffer[])) as ReadableStream;
    return new Response(jsonOf(said) ?? stream(), { status: said.status, headers });
  });
  return listening(serveHono({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }) as Server);
};

const onNest: Start = async (locks, work, options) => {
  class Payments {
    async pay(order: Order, request: object, response: ServerResponse): Promise<unknown> {
      const said = await work(order, runOf(request)?.token);
      if (said.fails) throw new HttpException('failed', said.status);
      if (said.status >= 400) throw new HttpException(JSON.parse(jsonOf(said)!), said.status);
      for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
      const text = jsonOf(said);
      if (text !== undefined) return JSON.parse(text);
      Readable.from(said.body as Buffer[]).pipe(response);
      return new Promise(() => {});
    }
  }
  const of = Object.getOwnPropertyDescriptor(Payments.prototype, 'pay')!;
  Body()(Payments.prototype, 'pay', 0);
  Req()(Payments.prototype, 'pay', 1);
  Res({ passthrough: true })(Payments.prototype, 'pay', 2);
  Post(['', ':id'])(Payments.prototype, 'pay', of);
  Idempotent({ scope, ...options })(Payments.prototype, 'pay', of);
  Controller('payments')(Payments);
  class App {}
  // Its locks are the caller's: the module closes them with the application, and the caller does as well.
  Module({ imports: [LocksModule.forRoot({ locks })], controllers: [Payments] })(App);
  const app = await NestFactory.create(App, { logger: false, abortOnError: false });
  app.use((request: Caller, response: ServerResponse, next: () => void) => {
    response.setHeader('x-request-id', String(request.headers['x-request-id'] ?? ''));
    next();
  });
  await app.listen(0, '127.0.0.1');
  return [await app.getUrl(), () => app.close()];
};

export const FRAMEWORKS: Readonly<Record<string, Start>> = {
  Express: onExpress,
  Fastify: onFastify,
  Hono: onHono,
  Nest: onNest,
};
