import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { type ReleaseOrder, type UiHandlerOptions, uiHandler } from '../../products/ui/index.ts';
import type { Snapshot } from '../../products/ui/wire.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { settleWithin } from '../kit/wait.ts';

/** A service that has the page at `/admin/locks`, behind a login: the header `user`. */
interface Service extends AsyncDisposable {
  /** Of the page, without a slash at its end. */
  readonly url: string;
}
type Mount = (locks: Locks, options?: UiHandlerOptions) => Promise<Service>;
const PATH = '/admin/locks';

const isIn = ({ headers }: { headers: IncomingMessage['headers'] }): boolean => headers.user !== undefined;
const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
type Use = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
const login: Use = (request, response, next) => (isIn(request) ? next() : void response.writeHead(401).end());

@Module({})
class Empty {}

const MOUNTS: Readonly<Record<string, Mount>> = {
  async Express(locks, options) {
    const page = uiHandler(locks, options);
    const app = express();
    app.use(express.json()); // has read the body before
    app.use(PATH, login, page);
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { url: urlOf(server), [Symbol.asyncDispose]: () => ended(server, page) };
  },
  async Nest(locks, options) {
    const page = uiHandler(locks, options);
    const app = await NestFactory.create(Empty, { logger: false });
    app.use(PATH, login, page);
    await app.listen(0, '127.0.0.1');
    return {
      url: urlOf(app.getHttpServer()),
      async [Symbol.asyncDispose]() {
        page.close();
        await settleWithin('the application closes', app.close());
      },
    };
  },
  async Fastify(locks, options) {
    const page = uiHandler(locks, { ...options, path: PATH });
    const app = fastify();
    const preHandler = (
      request: { headers: IncomingMessage['headers'] },
      reply: { code(status: number): { send(): void } },
      done: () => void,
    ): void => (isIn(request) ? done() : reply.code(401).send());
    app.all(`${PATH}*`, { preHandler }, (request, reply) => {
      reply.hijack();
      page(Object.assign(request.raw, { body: request.body }), reply.raw);
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    return {
      url: urlOf(app.server),
      async [Symbol.asyncDispose]() {
        page.close();
        await settleWithin('the application closes', app.close());
      },
    };
  },
  async 'node:http'(locks, options) {
    const page = uiHandler(locks, { ...options, path: PATH });
    const server = createServer((request, response) => login(request, response, () => page(request, response)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { url: urlOf(server), [Symbol.asyncDispose]: () => ended(server, page) };
  },
};

async function ended(server: Server, page: { close(): void }): Promise<void> {
  page.close();
  await settleWithin('the server closes', new Promise((resolve) => server.close(resolve)));
}

const user = { user: 'ann' };

/** The first look that has seen all keys. */
async function seen(url: string): Promise<Snapshot> {
  const { body } = await fetch(`${url}/events`, { headers: user });
  let text = '';
  for await (const part of body!.pipeThrough(new TextDecoderStream())) {
    const messages = (text + part).split('\n\n');
    text = messages.pop()!;
    for (const message of messages) {
      const snapshot = message.startsWith('data: ') && (JSON.parse(message.slice(6)) as Snapshot);
      if (snapshot && snapshot.look.state === 'seen') return snapshot;
    }
  }
  throw new Error('the stream ended');
}

describe.each(Object.entries(MOUNTS))('the page, mounted into %s', (_name, mount) => {
  /** As the page itself asks. */
  const post = (url: string, path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}/${path}`, {
      method: 'POST',
      headers: { ...user, origin: new URL(url).origin, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  test('shows the locks to a user who has logged in, and nothing to others', async () => {
    await using locks = createLocks(memory());
    await using lease = await locks.mutex('order:42').acquire();
    await using service = await mount(locks);
    expect((await fetch(`${service.url}/`)).status).toBe(401);
    const opened = await fetch(service.url, { headers: user });
    expect(opened.url, 'the slash that relative addresses need').toBe(`${service.url}/`);
    expect(opened.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(await opened.text()).toContain('<div id="page">');
    for (const part of ['page.js', 'page.css', 'icon.svg']) {
      const answer = await fetch(`${service.url}/${part}`, { headers: user });
      expect([part, answer.status]).toEqual([part, 200]);
      await answer.arrayBuffer(); // else the rest of a long one keeps the connection
    }
    expect((await fetch(`${service.url}/nothing`, { headers: user })).status).toBe(404);
    const { rows, engine, mayRelease } = await settleWithin('a look at all keys', seen(service.url));
    expect(rows.map(({ key }) => key)).toEqual(['order:42']);
    expect([engine, mayRelease, lease.held]).toEqual(['memory', false, true]);
  });

  test('is read-only by default, and refuses what another site asks', async () => {
    await using locks = createLocks(memory());
    await using lease = await locks.mutex('order:42').acquire();
    await using service = await mount(locks);
    const order = { key: 'order:42', token: `${lease.token}`, reason: 'it hangs' };
    const refused = await post(service.url, 'release', order);
    expect([refused.status, await refused.json()]).toEqual([403, { error: expect.stringContaining('read-only') }]);
    expect((await post(service.url, 'look', {})).status).toBe(200);
    const evil = { origin: 'http://evil.example' };
    for (const headers of [evil, { ...evil, 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }])
      expect((await post(service.url, 'look', {}, headers)).status, JSON.stringify(headers)).toBe(403);
    const framed = { ...user, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'script' };
    expect((await fetch(`${service.url}/page.js`, { headers: framed })).status).toBe(403);
    expect(lease.held).toBe(true);
  });

  test('evicts the holder that it shows if it may, and tells who asked for it', async () => {
    const engine = memory();
    await using locks = createLocks(engine);
    await using other = createLocks(engine);
    const lease = await locks.mutex('order:42').acquire();
    const told: [ReleaseOrder, unknown][] = [];
    const released = (order: ReleaseOrder, { headers }: IncomingMessage): void => void told.push([order, headers.user]);
    await using service = await mount(locks, { readOnly: false, released });
    const order = { key: 'order:42', token: `${lease.token}`, reason: 'it hangs' };
    const answer = await post(service.url, 'release', order);
    expect([answer.status, await answer.json()]).toEqual([200, { evicted: true }]);
    expect(told).toEqual([[order, 'ann']]);
    expect(await other.mutex('order:42').tryAcquire()).not.toBeNull();
  });
});

test('an option that is wrong is an error at once', async () => {
  await using locks = createLocks(memory());
  expect(() => uiHandler({} as Locks)).toThrow('uiHandler() takes Locks');
  expect(() => uiHandler(locks, { path: 'locks/' })).toThrow('it must be like');
  expect(() => uiHandler(locks, { readonly: false } as object)).toThrow('readonly');
});

test('behind a proxy that ends TLS and gives another host, the browser’s own word counts', async () => {
  await using locks = createLocks(memory());
  await using service = await MOUNTS['node:http']!(locks);
  const headers = { ...user, 'content-type': 'application/json', origin: 'https://locks.example' };
  const ask = (more: object): Promise<Response> =>
    fetch(`${service.url}/look`, { method: 'POST', headers: { ...headers, ...more }, body: '{}' });
  expect((await ask({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  expect((await ask({})).status, 'a client that does not say it').toBe(403);
});

test('with a prefix it looks at no other key, and evicts and forgets nothing there', async () => {
  const engine = memory();
  const looks: string[] = [];
  const looked = Promise.withResolvers<void>();
  const backend = around(engine, {
    inspect(key, listing) {
      if (listing?.exact) looks.push(key);
      if (looks.includes('order:1')) looked.resolve();
      return engine.inspect!(key, listing);
    },
  });
  await using locks = createLocks(engine);
  await using shown = createLocks(backend);
  await locks.memo('payment:1', { keep: '1h' }).run(() => 'paid');
  await using lease = await locks.mutex('payment:2').acquire();
  await using service = await MOUNTS['node:http']!(shown, { prefix: 'order:', readOnly: false });
  const headers = { ...user, 'content-type': 'application/json', origin: new URL(service.url).origin };
  const asked = async (path: string, body: object): Promise<unknown> => {
    const answer = await fetch(`${service.url}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return [answer.status, await answer.json()];
  };
  const refused = [403, { error: 'this page has only keys that begin with order:' }];
  expect(await asked('release', { key: 'payment:2', token: `${lease.token}`, reason: 'it hangs' })).toEqual(refused);
  expect(await asked('forget', { key: 'payment:1' })).toEqual(refused);
  expect((await locks.memo('payment:1', { keep: '1h' }).peek()).state, 'its memo is there').toBe('kept');
  expect(await locks.isHeld('payment:2'), 'its holder holds').toBe(true);
  looks.length = 0;
  const { body } = await fetch(`${service.url}/events?key=payment:2&line=order:1`, { headers: user });
  await settleWithin('the keys of the page are looked at', looked.promise);
  await body!.cancel();
  expect(looks, 'the first key of the page is outside').not.toContain('payment:2');
});
