import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RedisClient, redis } from '../../../src/backends/redis/index.ts';
import { createLocks, isLockError } from '../../../src/index.ts';
import { exchange, freePort, giveBack, HOST } from '../../kit/net.ts';
import { startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin } from '../../kit/wait.ts';
import { LIBRARIES, type Library } from './fleet.ts';

/** The name with which each command begins, as clients send it. */
const COMMAND = /\*\d+\r\n\$\d+\r\n(\w+)\r\n/g;
/** Some of the commands for which twemproxy ends the connection (its notes/redis.md), and Envoy where it has no upstream for them. */
const UNSUPPORTED = ['INFO', 'SUBSCRIBE', 'CONFIG', 'TIME', 'SCAN', 'SELECT', 'CLIENT', 'HELLO', 'MULTI', 'QUIT'];

interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** The commands for which a connection was ended, with the number of times. */
  readonly ended: Map<string, number>;
}

/** Passes on what twemproxy would, and ends a connection on which a client sends something else. */
async function startTwemproxy(target: number): Promise<Proxy> {
  const ended = new Map<string, number>();
  const sockets = new Set<Socket>();
  const port = await freePort();
  const listener = createServer((client) => {
    const server = connect(target, HOST);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    server.on('data', (bytes) => client.write(bytes));
    client.on('data', (bytes) => {
      const names = [...bytes.toString('latin1').matchAll(COMMAND)].map(([, name]) => name!.toUpperCase());
      const refused = names.find((name) => UNSUPPORTED.includes(name));
      if (refused === undefined) return server.write(bytes);
      ended.set(refused, (ended.get(refused) ?? 0) + 1);
      client.destroy();
    });
  });
  listener.listen(port, HOST);
  await once(listener, 'listening');
  return {
    port,
    ended,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      giveBack(port);
    },
  };
}

/** The commands in these bytes, which hold whole ones: how each is on the wire, and its words. */
function commandsOf(text: string): { wire: string; words: string[] }[] {
  return text.split(/(?=\*\d+\r\n\$\d+\r\n)/).map((wire) => ({
    wire,
    words: wire.split('\r\n').filter((_, i) => i > 0 && i % 2 === 0),
  }));
}

const isWhole = (reply: string): boolean =>
  reply.startsWith('$') && reply[1] !== '-'
    ? reply.length >= reply.indexOf('\n') + Number(reply.slice(1, reply.indexOf('\r'))) + 3
    : reply.endsWith('\r\n');

/** Sends each script to the server that its first key belongs to. */
async function startSpreading(targets: readonly number[]): Promise<AsyncDisposable & { readonly port: number }> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  const listener = createServer((client) => {
    sockets.add(client);
    client.on('error', () => {});
    let last = Promise.resolve();
    client.on('data', (bytes) => {
      for (const { wire, words } of commandsOf(bytes.toString('latin1'))) {
        const sum = [...(words[3] ?? '')].reduce((all, char) => all + char.charCodeAt(0), 0);
        last = last.then(async () => void client.write(await exchange(targets[sum % targets.length]!, wire, isWhole)));
      }
    });
  });
  listener.listen(port, HOST);
  await once(listener, 'listening');
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      giveBack(port);
    },
  };
}

/** A client as its library has to be set for such a proxy. It sends again without an end what a lost connection did not answer. */
const open: Readonly<Record<Library, (port: number) => Promise<{ client: RedisClient; end(): void }>>> = {
  ioredis: async (port) => {
    const options = {
      enableReadyCheck: false,
      disableClientInfo: true,
      protocol: 2,
      maxRetriesPerRequest: null,
    } as const;
    const client = new Redis({ host: HOST, port, ...options });
    client.on('error', () => {});
    return { client, end: () => client.disconnect() };
  },
  'node-redis': async (port) => {
    const client = createClient({ socket: { host: HOST, port }, disableClientInfo: true, RESP: 2 });
    client.on('error', () => {});
    await client.connect();
    return { client, end: () => client.destroy() };
  },
};

describeOn('redis', 'redis behind a proxy that ends a connection for a command it does not know', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each(
    LIBRARIES,
  )('%s: locks are had, waited for and checked, over the client that stays connected', async (library) => {
    await using proxy = await startTwemproxy(server.port);
    const [one, two] = [await open[library](proxy.port), await open[library](proxy.port)];
    using _ = { [Symbol.dispose]: () => [one, two].map(({ end }) => end()) };
    await using first = createLocks(redis(one.client));
    await using second = createLocks(redis(two.client));
    const lease = await settleWithin('a lock', first.mutex('proxied').acquire({ wait: '3s' }), 5_000);
    const waiting = second.mutex('proxied').acquire({ wait: '10s' });
    expect(await second.mutex('proxied').tryAcquire()).toBeNull();
    await lease.release();
    await (await settleWithin('the next', waiting, 5_000)).release();
    const codes = (await first.check()).map(({ code }) => code);
    expect(codes).toContain('not-checked');
    await (await settleWithin('a lock after the check', first.mutex('proxied').acquire(), 2_000)).release();
    expect(proxy.ended.get('INFO') ?? 0, 'connections ended for INFO, by check() on one of its own').toBeLessThan(2);
  });

  test.each(
    LIBRARIES,
  )('%s: a proxy that spreads names over servers is refused, since one script is about many', async (library) => {
    await using another = await startRedis();
    await using proxy = await startSpreading([server.port, another.port]);
    const { client, end } = await open[library](proxy.port);
    using _ = { [Symbol.dispose]: end };
    await using locks = createLocks(redis(client));
    const error = await locks
      .mutex('spread')
      .tryAcquire()
      .catch((refusal: unknown) => refusal);
    expect(isLockError(error, 'LOCK_UNSUPPORTED'), `${error}`).toBe(true);
    expect(`${error}`).toContain('several servers');
  });
});
