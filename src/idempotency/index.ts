import type { ServerResponse } from 'node:http';
import type { Locks } from '../locks.ts';
import { onHono, onNode } from './adapters.ts';
import { sendOn } from './held-response.ts';
import type { IdempotencyOptions } from './options.ts';
import { requestsOf } from './requests.ts';

export { runOf } from './adapters.ts';
export type { IdempotencyOptions } from './options.ts';

/** The used parts of a Fastify reply. */
export interface FastifyReplyLike {
  /** The response of Node. */
  readonly raw: ServerResponse;
  /** The headers that hooks have set. */
  readonly getHeaders: () => object;
  /** Sets the status. */
  readonly code: (status: number) => unknown;
  /** Sets a header. */
  readonly header: (name: string, value: unknown) => unknown;
  /** Sends the body. */
  readonly send: (body: unknown) => unknown;
}

/** Handles the header `Idempotency-Key` in a framework. Put it after the login and the body parser. */
export interface Idempotency<R> {
  /**
   * A middleware of Express.
   * @example
   * import express from 'express';
   * const perKey = idempotency(locks, { scope: (request: express.Request) => request.get('account') ?? 'nobody' });
   * express().post('/payments', perKey.express, (_, response) => void response.sendStatus(201));
   */
  express(request: R, response: ServerResponse, next: (error?: unknown) => void): void;
  /**
   * A hook of Fastify.
   * @example
   * import { fastify } from 'fastify';
   * const { fastify: preHandler } = idempotency(locks, { scope: () => 'all' });
   * fastify().post('/payments', { preHandler }, async () => ({ state: 'paid' }));
   */
  fastify(request: R, reply: FastifyReplyLike, done: (error?: Error) => void): void;
  /**
   * A middleware of Hono.
   * @example
   * import { Hono } from 'hono';
   * const perKey = idempotency(locks, { scope: () => 'all' });
   * const app = new Hono().use('/payments', (context, next) => perKey.hono(context, next));
   */
  hono(context: R, next: () => Promise<void>): Promise<Response | undefined>;
}

/**
 * Handles the header `Idempotency-Key` (IETF draft *The Idempotency-Key HTTP Header Field*, -07) with a memo. Of all requests with the same
 * caller, route and key, one runs the handler. The others get its status, headers and body, with `Idempotent-Replayed: true`. The handler
 * runs again if its process died or its answer is not kept: let it use the fencing token of `runOf(request)`.
 * @throws LockError `LOCK_INVALID`; `LOCK_UNSUPPORTED` if the engine cannot keep answers
 * @example
 * const perKey = idempotency(locks, { scope: (request: { account: string }) => request.account, keep: '24h' });
 */
export function idempotency<R = unknown>(locks: Locks, options: IdempotencyOptions<R>): Idempotency<R> {
  const requests = requestsOf(locks, options);
  return {
    express: (request, response, next) =>
      onNode(requests, request, response, undefined, { go: next, fail: next, send: (all) => sendOn(response, all) }),
    fastify: (request, reply, done) =>
      onNode(requests, request, reply.raw, reply.getHeaders(), {
        go: done,
        fail: (error) => done(error as Error),
        send({ status, headers, body }) {
          reply.code(status);
          for (const [name, value] of Object.entries(headers)) reply.header(name, value);
          reply.send(body?.length ? body : undefined); // Fastify gives empty bytes a type
        },
      }),
    hono: (context, next) => onHono(requests, context, next),
  };
}
