import type { ServerResponse } from 'node:http';
import { type CallHandler, type ExecutionContext, Inject, Injectable, UseInterceptors } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import { onNode } from '../idempotency/adapters.ts';
import { hold, sendOn } from '../idempotency/held-response.ts';
import { type IdempotencyOptions, idempotencyPlan } from '../idempotency/options.ts';
import { type RequestHandling, requestsOf } from '../idempotency/requests.ts';
import { Locks } from '../locks.ts';

type Handled = ReturnType<CallHandler['handle']>;
type Told = Record<'next' | 'error' | 'complete', (what?: unknown) => void>;

/** When the client leaves, Nest drops an Observable of the handler and never ends the response. Then this ends it. */
function watched(handled: Handled, raw: ServerResponse): Handled {
  const Same = handled.constructor as new (begin: (to: Told) => () => void) => Handled;
  return new Same((to) => {
    let isOver = false;
    const pass = (act: keyof Told) => (what?: unknown) => {
      isOver = act !== 'next';
      to[act](what);
    };
    const inner = handled.subscribe({ next: pass('next'), error: pass('error'), complete: pass('complete') });
    return () => {
      inner.unsubscribe();
      if (!isOver && (raw.destroyed || raw.socket?.destroyed) && !raw.headersSent) raw.destroy();
    };
  });
}

/** Whether the handler has taken the response to send its own answer, so that Nest sends none. */
function sendsItself(context: ExecutionContext): boolean {
  const host = context.getClass();
  const isIt = (name: string): boolean => host.prototype[name] === context.getHandler(); // a wrapped one has another name
  const name = new MetadataScanner().getAllMethodNames(host.prototype).find(isIt)!;
  const given = Object.keys(Reflect.getMetadata('__routeArguments__', host, name) ?? {});
  return given.some((key) => /^[12]:/.test(key)) && !Reflect.getMetadata('__responsePassthrough__', host, name);
}

/**
 * Handles the header `Idempotency-Key` for a controller or one of its methods, on Express and Fastify, with the locks of the application.
 * It is an interceptor, so `scope` sees what the guards have set. Answers of exception filters are kept like answers of handlers: see
 * `holdfast/idempotency`.
 * @throws LockError `LOCK_INVALID`
 * @example
 * const idempotent = Idempotent({ scope: (request: { user: { id: string } }) => request.user.id }); // @Idempotent(…) on a method
 */
export function Idempotent<R = unknown>(options: IdempotencyOptions<R>): ClassDecorator & MethodDecorator {
  idempotencyPlan(options); // wrong options throw now, not at the start
  class IdempotencyInterceptor {
    readonly #requests: RequestHandling<R>;

    constructor(locks: Locks) {
      this.#requests = requestsOf(locks, options);
    }

    intercept(context: ExecutionContext, next: CallHandler): Handled | Promise<Handled> {
      if (context.getType() !== 'http') return next.handle();
      const http = context.switchToHttp();
      const reply = http.getResponse<ServerResponse & { readonly raw?: ServerResponse }>();
      const { raw = reply } = reply;
      return new Promise((resolve, fail) => {
        let isOver = false; // Nest has taken the one result of the request
        onNode(this.#requests, http.getRequest<R>(), raw, reply.getHeaders(), {
          go() {
            resolve(watched(next.handle(), raw));
            isOver = true;
          },
          send(answer) {
            hold(raw, {}, answer);
            if (sendsItself(context)) raw.end();
            resolve([undefined] as unknown as Handled); // RxJS makes an Observable of a list
          },
          fail(error) {
            if (!isOver) fail(error);
            else if (raw.headersSent) raw.destroy();
            else sendOn(raw, { status: 500, headers: {}, body: undefined }); // in place of an answer that Node cannot send
          },
        });
      });
    }
  }
  Injectable()(IdempotencyInterceptor);
  Inject(Locks)(IdempotencyInterceptor, undefined, 0);
  return UseInterceptors(IdempotencyInterceptor);
}
