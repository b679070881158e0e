import type { ServerResponse } from 'node:http';
import { type CallHandler, type ExecutionContext, Inject, Injectable, UseInterceptors } from '@nestjs/common';
import { HeldResponse } from '../idempotency/held-response.ts';
import { onNode } from '../idempotency/node.ts';
import { type IdempotencyOptions, idempotencyPlan } from '../idempotency/options.ts';
import { Requests } from '../idempotency/requests.ts';
import { Locks } from '../locks.ts';

type Handled = ReturnType<CallHandler['handle']>;

/**
 * The header `Idempotency-Key` for a controller or one of its methods, on Express and Fastify, with the locks of the application. It is an
 * interceptor, so `scope` sees what the guards found out. What `holdfast/idempotency` says of answers is true here, those of exception
 * filters included.
 * @throws LockError `LOCK_INVALID`
 * @example
 * const idempotent = Idempotent({ scope: (request: { user: { id: string } }) => request.user.id }); // @Idempotent(…) on a method
 */
export function Idempotent<R = unknown>(options: IdempotencyOptions<R>): ClassDecorator & MethodDecorator {
  idempotencyPlan(options); // reports errors now, where they were written
  class IdempotencyInterceptor {
    readonly #requests: Requests<R>;

    constructor(locks: Locks) {
      this.#requests = new Requests(locks, options);
    }

    intercept(context: ExecutionContext, next: CallHandler): Handled | Promise<Handled> {
      if (context.getType() !== 'http') return next.handle();
      const http = context.switchToHttp();
      const reply = http.getResponse<ServerResponse & { raw?: ServerResponse; getHeaders(): object }>();
      const response = reply.raw ?? reply;
      return new Promise((resolve, reject) => {
        const steps = {
          go: () => resolve(next.handle()),
          fail: reject,
          send(answer: Parameters<HeldResponse['replaceBy']>[0]) {
            new HeldResponse(response).replaceBy(answer);
            resolve([undefined] as unknown as Handled); // Nest takes all that RxJS makes an Observable of
          },
        };
        onNode(this.#requests, http.getRequest<R>(), response, steps, reply.getHeaders() as Record<string, unknown>);
      });
    }
  }
  Injectable()(IdempotencyInterceptor);
  Inject(Locks)(IdempotencyInterceptor, undefined, 0);
  return UseInterceptors(IdempotencyInterceptor);
}
