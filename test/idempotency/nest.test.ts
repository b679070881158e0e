/** Routes of Nest whose answers Nest does not send by itself. */
import 'reflect-metadata';
import { once } from 'node:events';
import { request as call, type ServerResponse } from 'node:http';
import { Controller, Module, Next, Post, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Observable } from 'rxjs';
import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { Idempotent, LocksModule } from '../../src/nestjs/index.ts';
import { settleWithin, until } from '../kit/wait.ts';
import { type Served, served } from './served.ts';

type Handler = () => unknown;
type Decorate = (target: object, name: string, index: number) => void;

/** An application with one route. @param decorate decorates the argument of its handler */
async function nest(locks: Locks, handler: Handler, decorate?: Decorate): Promise<Served> {
  class Payments {}
  const of = { value: handler, configurable: true, writable: true };
  Object.defineProperty(Payments.prototype, 'pay', of);
  decorate?.(Payments.prototype, 'pay', 0);
  Post()(Payments.prototype, 'pay', of);
  Idempotent({ scope: () => 'all', wait: '100ms' })(Payments.prototype, 'pay', of);
  Controller()(Payments);
  class App {}
  Module({ imports: [LocksModule.forRoot({ locks })], controllers: [Payments] })(App);
  const app = await NestFactory.create(App, { logger: false, abortOnError: false });
  app.use((_: unknown, response: ServerResponse, next: () => void) => {
    latest = response;
    next();
  });
  await app.init();
  return served(app.getHttpServer());
}
let latest: ServerResponse;

test.each([
  ['@Res()', Res()],
  ['@Next()', Next()],
] satisfies [
  string,
  Decorate,
][])('a handler with %s sends its own answer; a replay and a refusal are sent, too', async (_, decorate) => {
  await using locks = createLocks(memory());
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const handler = async () => {
    const response = latest;
    begun.resolve();
    await end.promise;
    response.end('done');
  };
  await using app = await nest(locks, handler, decorate);
  const first = app.post('/');
  await begun.promise;
  const refused = await app.post('/');
  end.resolve();
  const answers = [refused, await first, await app.post('/')];
  expect(answers.map(({ status, headers }) => [status, headers.get('idempotent-replayed')])).toEqual([
    [409, null],
    [201, null],
    [201, 'true'],
  ]);
  expect(answers[2]?.text).toBe('done');
});

test('a handler with @Res() that passes through returns its answer, and a replay has it', async () => {
  await using locks = createLocks(memory());
  await using app = await nest(locks, () => ({ state: 'paid' }), Res({ passthrough: true }));
  expect([(await app.post('/')).text, (await app.post('/')).text]).toEqual(Array(2).fill('{"state":"paid"}'));
});

test('an Observable that Nest drops, since its client is gone, frees the key', async () => {
  await using locks = createLocks(memory());
  const [begun, dropped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let runs = 0;
  await using app = await nest(locks, () => {
    if (++runs > 1) return new Observable((to) => to.next('again') ?? to.complete());
    return new Observable(() => {
      begun.resolve();
      return dropped.resolve;
    });
  });
  const first = call(app.url, { method: 'POST', headers: { 'idempotency-key': 'k' } });
  first.on('error', () => {}); // the client ends its own connection
  first.end();
  await settleWithin('the request is there', begun.promise);
  first.destroy();
  await settleWithin('Nest drops it', dropped.promise);
  expect([(await app.post('/')).text, (await app.post('/')).text, runs]).toEqual(['again', 'again', 2]);
});

test('a promise that is kept after its client is gone is an answer, since Nest drops no promise', async () => {
  await using locks = createLocks(memory());
  const begun = Promise.withResolvers<void>();
  let runs = 0;
  await using app = await nest(locks, async () => {
    runs++;
    const gone = once(latest, 'close');
    begun.resolve();
    if (runs === 1) await gone;
    return 'done';
  });
  const first = call(app.url, { method: 'POST', headers: { 'idempotency-key': 'k' } });
  first.on('error', () => {}); // the client ends its own connection
  first.end();
  await settleWithin('the request is there', begun.promise);
  first.destroy();
  await until('it is kept', async () => (await app.post('/')).status === 201);
  expect(runs).toBe(1);
});
