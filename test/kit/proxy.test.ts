import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HOST, take } from './net.ts';
import { type FaultProxy, startProxy } from './proxy.ts';
import { settleWithin, until } from './wait.ts';

/** A server that answers every line with itself and remembers what it got. */
async function startEcho(): Promise<{ port: number; heard(): string } & AsyncDisposable> {
  let heard = '';
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      heard += bytes;
      socket.write(bytes);
    });
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    heard: () => heard,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

class Client implements Disposable {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  received = '';

  constructor(port: number) {
    this.socket = connect({ port, host: HOST, noDelay: true });
    this.socket.on('data', (bytes) => {
      this.received += bytes;
    });
    this.closed = new Promise((resolve) => this.socket.once('error', resolve).once('close', resolve));
  }

  async say(text: string): Promise<void> {
    const before = this.received.length;
    this.socket.write(text);
    await until(`an answer to ${text}`, () => this.received.slice(before).includes(text));
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

let echo: Awaited<ReturnType<typeof startEcho>>;
let proxy: FaultProxy;
beforeEach(async () => {
  echo = await startEcho();
  proxy = await startProxy(echo.port);
});
afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  await echo[Symbol.asyncDispose]();
});

test('passes bytes on and counts them', async () => {
  using client = new Client(proxy.port);
  await client.say('hello');
  expect(proxy).toMatchObject({ connections: 1, open: 1, passed: { up: 5, down: 5 }, dropped: { up: 0, down: 0 } });
});

test('passes the end of a stream on', async () => {
  using client = new Client(proxy.port);
  await client.say('bye');
  client.socket.end();
  await settleWithin('both ends close', client.closed);
  await until('the link is forgotten', () => proxy.open === 0);
});

test('delays a round trip by twice the time, in order', async () => {
  using client = new Client(proxy.port);
  await client.say('warm');
  proxy.delay(40);
  const sent = performance.now();
  client.socket.write('1');
  await sleep(5);
  client.socket.write('2');
  proxy.delay(1);
  client.socket.write('3');
  await until('all answers', () => client.received.length === 7);
  expect(client.received).toBe('warm123');
  expect(performance.now() - sent).toBeGreaterThanOrEqual(40);
});

test('delays in one direction only when told so', async () => {
  using client = new Client(proxy.port);
  await client.say('warm');
  proxy.delay(60_000, 'down');
  client.socket.write('x');
  await until('the server has heard it', () => echo.heard() === 'warmx');
  expect(client.received).toBe('warm');
  await proxy.pass();
  await until('the answer', () => client.received === 'warmx');
});

test('holds replies back until they are let go', async () => {
  using client = new Client(proxy.port);
  await client.say('warm');
  proxy.stall('down');
  client.socket.write('late');
  await until('the server has heard it', () => echo.heard() === 'warmlate');
  await sleep(30);
  expect(client.received).toBe('warm');
  await proxy.pass();
  await until('the answer', () => client.received === 'warmlate');
  expect(proxy.dropped.down).toBe(0);
});

test.each(['up', 'down'] as const)('swallows the bytes of the direction %s', async (direction) => {
  using client = new Client(proxy.port);
  await client.say('warm');
  proxy.blackhole(direction);
  client.socket.write('lost');
  await until('bytes are swallowed', () => proxy.dropped[direction] === 4);
  expect(echo.heard()).toBe(direction === 'up' ? 'warm' : 'warmlost');
  await proxy.pass();
  await client.say('again');
  expect(client.received).toBe('warmagain');
});

test('refuses new connections, keeps open ones, and listens on the same port afterwards', async () => {
  using client = new Client(proxy.port);
  await client.say('warm');
  proxy.refuse();
  using refused = new Client(proxy.port);
  expect(await refused.closed).toMatchObject({ code: 'ECONNREFUSED' });
  await client.say('still here');
  await proxy.pass();
  using accepted = new Client(proxy.port);
  await accepted.say('back');
});

test('resets all connections at once', async () => {
  using first = new Client(proxy.port);
  using second = new Client(proxy.port);
  await Promise.all([first.say('a'), second.say('b')]);
  proxy.cut();
  expect(await Promise.all([first.closed, second.closed])).toMatchObject([
    { code: 'ECONNRESET' },
    { code: 'ECONNRESET' },
  ]);
  await until('the links are forgotten', () => proxy.open === 0);
});

test('cuts before a request reaches the server, also when it comes in pieces', async () => {
  using client = new Client(proxy.port);
  const cut = proxy.cutBefore('SECRET');
  await client.say('one SEC');
  client.socket.write('RET two');
  await settleWithin('the cut', cut);
  expect(await client.closed).toMatchObject({ code: 'ECONNRESET' });
  expect(echo.heard()).toBe('one SEC');
});

test('cuts after a request was executed and before its reply arrives, once', async () => {
  using client = new Client(proxy.port);
  await client.say('one');
  const cut = proxy.cutAfter('two');
  client.socket.write('two');
  await settleWithin('the cut', cut);
  expect(await client.closed).toMatchObject({ code: 'ECONNRESET' });
  expect(echo.heard()).toBe('onetwo');
  expect(client.received).toBe('one');
  using next = new Client(proxy.port);
  await next.say('two');
});

test('a trap does not see what was sent before it was set', async () => {
  using client = new Client(proxy.port);
  proxy.cutBefore('something else');
  await client.say('two');
  const cut = proxy.cutAfter('two');
  await client.say('three');
  client.socket.write('two');
  await settleWithin('the cut', cut);
});

test('resets a client whose server is not there', async () => {
  await echo[Symbol.asyncDispose]();
  using client = new Client(proxy.port);
  expect(await client.closed).toMatchObject({ code: 'ECONNRESET' });
  echo = await startEcho();
});

test('gives its port back when it ends, so that a suite of thousands does not use all of them up', async () => {
  const ended = await startProxy(echo.port);
  await ended[Symbol.asyncDispose]();
  expect(await take(ended.port), `port ${ended.port} is free again`).toBe(true);
});
