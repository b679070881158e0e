import type { ServerResponse } from 'node:http';
import { type CallHandler, type ExecutionContext, Inject, Injectable, UseInterceptors } from '@nestjs/common';
import { onNode, type Steps } from '../idempotency/adapters.ts';
import { hold } from '../idempotency/held-response.ts';
import { type IdempotencyOptions, idempotencyPlan } from '../idempotency/options.ts';
import { type RequestHandling, requestsOf } from '../idempotency/requests.ts';
import { Locks } from '../locks.ts';

type Handled = ReturnType<CallHandler['handle']>;

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
        const send: Steps['send'] = (answer) => {
          hold(raw, {}, answer);
          resolve([undefined] as unknown as Handled); // RxJS makes an Observable of a list
        };
        onNode(
          this.#requests,
          http.getRequest<R>(),
          raw,
          { go: () => resolve(next.handle()), send, fail },
          reply.getHeaders(),
        );
      });
    }
  }
  Injectable()(IdempotencyInterceptor);
  Inject(Locks)(IdempotencyInterceptor, undefined, 0);
  return UseInterceptors(IdempotencyInterceptor);
}
