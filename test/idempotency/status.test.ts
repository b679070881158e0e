/** A handler sets a status that Node refuses to send. */
import 'reflect-metadata';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Controller, Module, Post, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { idempotency } from '../../src/idempotency/index.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { Idempotent, LocksModule } from '../../src/nestjs/index.ts';
import { settleWithin } from '../kit/wait.ts';

type Spoil = (response: ServerResponse) => void;
const options = { scope: () => 'all' };

/** A server of each framework that sends such a status, whose only handler sets the status by `spoil`, and answers. */
const SERVERS: Readonly<Record<string, (locks: Locks, spoil: Spoil) => Server | Promise<Server>>> = {
  Express(locks, spoil) {
    const app = express().set('env', 'test'); // it logs no errors
    app.post('/', idempotency(locks, options).express, (_, response) => {
      spoil(response);
      response.send('done');
    });
    return createServer(app);
  },
  async Nest(locks, spoil) {
    class Payments {
      pay(response: ServerResponse): string {
        spoil(response);
        return 'done';
      }
    }
    const of = Object.getOwnPropertyDescriptor(Payments.prototype, 'pay')!;
    Post()(Payments.prototype, 'pay', of);
    Res({ passthrough: true })(Payments.prototype, 'pay', 0);
    Idempotent(options)(Payments.prototype, 'pay', of);
    Controller()(Payments);
    class App {}
    Module({ imports: [LocksModule.forRoot({ locks })], controllers: [Payments] })(App);
    const app = await NestFactory.create(App, { logger: false, abortOnError: false });
    await app.init();
    return app.getHttpServer();
  },
};

const SPOILED: Readonly<Record<string, Spoil>> = {
  text: (response) => {
    response.statusMessage = 'not ✓';
  },
  code: (response) => {
    response.statusCode = 42;
  },
};

test.each(
  Object.keys(SERVERS).flatMap((name) => Object.keys(SPOILED).map((part) => [name, part] as const)),
)('%s: an answer whose status has a %s that Node refuses becomes one with 500, and ends no process', async (name, part) => {
  await using locks = createLocks(memory());
  const wrong: unknown[] = [];
  const note = (error: unknown): void => void wrong.push(error);
  const server = await SERVERS[name]!(locks, SPOILED[part]!);
  process.on('unhandledRejection', note);
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const post = fetch(url, { method: 'POST', headers: { 'idempotency-key': 'k' } });
    const { status } = await settleWithin('the answer', post, 10_000);
    await setImmediate();
    expect([status, wrong], 'the status, and rejections without a handler').toEqual([500, []]);
  } finally {
    process.off('unhandledRejection', note);
    server.close();
    server.closeAllConnections();
  }
});
