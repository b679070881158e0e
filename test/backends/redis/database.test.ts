import type { EventEmitter } from 'node:events';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { redis } from '../../../src/backends/redis/index.ts';
import { connect } from '../../../src/connect/index.ts';
import { redisFence } from '../../../src/fence/redis.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import { askRedis, startRedis, startRedisNodes } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { Fleet, LIBRARIES, type Openers } from './fleet.ts';
import { granted, wish } from './scene.ts';

const USER = { username: 'app', password: 'secret' } as const;
/** The database of these clients; the others are for who reads in the wrong one. */
const DATABASE = 3;

const clients = (port: number, database = DATABASE): Openers => ({
  ioredis: () => {
    const client = new Redis({ port, ...USER, db: database });
    return { client, ready: Promise.resolve(), end: () => client.disconnect() };
  },
  'node-redis': () => {
    const client = createClient({ socket: { host: '127.0.0.1', port }, ...USER, database });
    return { client, ready: client.connect(), end: () => (client.isOpen ? client.destroy() : undefined) };
  },
});

describeOn('redis', 'redis, the database of a client', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startRedis({ user: ['app', 'on', '>secret', '~*', '&*', '+@all'] });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await allow(true);
    await askRedis(server.port, 'FLUSHALL');
  });

  const allow = async (select: boolean): Promise<void> => {
    expect(await askRedis(server.port, `ACL SETUSER app ${select ? '+' : '-'}select`)).toBe('+OK\r\n');
  };
  /** Of the database that every connection begins in. */
  const strays = (): Promise<string> => askRedis(server.port, 'KEYS *');
  const NONE = '*0\r\n';
  const refusedSelect = {
    code: 'LOCK_UNAVAILABLE',
    message: expect.stringMatching(/redis refused database 3: .*select/),
  };

  test.each([
    ['redis:', () => startRedis({ databases: '16' })],
    ['redlock+redis:', () => startRedisNodes(3, { databases: '16' })],
  ])('connect() to a database that the server has not is refused, and locks in no other: %s', async (_title, start) => {
    await using servers = await start();
    const error = {
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(/redis refused database 16: .*out of range/),
    };
    await expect(connect(`${servers.url}/16`)).rejects.toMatchObject(error);
    await using locks = await connect(`${servers.url}/15`);
    await using lease = await locks.mutex('there').acquire();
    expect(lease.held).toBe(true);
  });

  test('ioredis without the right to +select: whatever writes is refused, and nothing is in database 0', async () => {
    await allow(false);
    await using fleet = new Fleet(clients(server.port));
    const client = await fleet.client('ioredis');
    const backend = fleet.over(client);
    await expect(backend.attempt(wish('lock'))).rejects.toMatchObject(refusedSelect);
    await expect(backend.release(wish('lock'))).rejects.toMatchObject(refusedSelect);
    await expect(backend.hints!.write('note', 'words', 10_000)).rejects.toMatchObject(refusedSelect);
    await expect(redisFence(client, 'fence').claim(1n)).rejects.toMatchObject(refusedSelect);
    const acknowledged = fleet.over(client, { replicas: { acknowledge: 1, within: 5 } });
    await expect(acknowledged.attempt(wish('lock'))).rejects.toMatchObject(refusedSelect);
    expect(await strays()).toBe(NONE);
  });

  for (const library of LIBRARIES) {
    test(`${library}: after a reconnection at which the database is refused nothing is locked in another`, async () => {
      await using fleet = new Fleet(clients(server.port));
      const client = await fleet.client(library);
      const backend = fleet.over(client);
      const held = wish('held');
      granted(await backend.attempt(held));
      await allow(false);
      // What is sent before the client notices is sent again, which the next test is about.
      const noticed = new Promise((resolve) => (client as unknown as EventEmitter).once('reconnecting', resolve));
      await askRedis(server.port, 'CLIENT KILL USER app');
      await noticed;
      const answers: unknown[] = [];
      await until('it has been asked on a new connection, or cannot get one', async () => {
        const asked = backend.attempt(wish('other', { queue: false, within: 200 })).then(
          (attempt) => attempt,
          (error: Error) => error.message,
        );
        answers.push(await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 300, 'no answer'))]));
        return answers.length > 3;
      });
      expect(answers).not.toContainEqual(expect.objectContaining({ granted: true }));
      expect(await strays()).toBe(NONE);
      await allow(true);
      await until(
        'it goes on in its own database',
        async () => (await backend.release(held).catch(() => ({ freed: false }))).freed,
      );
      expect(await strays()).toBe(NONE);
    });
  }

  test('ioredis: what was sent before a reconnection, and again after it, is no grant in another database', async () => {
    await using proxy = await startProxy(server.port);
    await using fleet = new Fleet(clients(proxy.port));
    const backend = await fleet.backend('ioredis');
    granted(await backend.attempt(wish('first')));
    const cut = proxy.cutBefore('evalsha');
    await allow(false);
    const resent = backend.attempt(wish('resent'));
    resent.catch(() => {});
    await cut;
    await expect(resent).rejects.toThrow(/database 3/);
  });

  describe('ioredis sends a request again in database 0, since SELECT was refused once', () => {
    /** The server refuses the first SELECT of the next connection, and accepts it before the client has any later answer. */
    const refuseOnce = async (proxy: FaultProxy, client: Pick<EventEmitter, 'on'>): Promise<void> => {
      await allow(false);
      client.on('error', async ({ message }: Error) => {
        if (!message.includes("'select'")) return; // the connection that was cut
        proxy.stall('down');
        await allow(true);
        await proxy.pass();
      });
    };
    const unknown = /connection was lost.* not known .* database 3/;

    test('a grant there does not count, while another client holds the lock', async () => {
      await using proxy = await startProxy(server.port);
      await using fleet = new Fleet(clients(proxy.port));
      await using others = new Fleet(clients(server.port));
      const client = await fleet.client('ioredis');
      const backend = fleet.over(client);
      granted(await backend.attempt(wish('first')));
      granted(await (await others.backend('ioredis')).attempt(wish('taken')));
      const cut = proxy.cutBefore('{taken}');
      await refuseOnce(proxy, client as unknown as EventEmitter);
      const resent = backend.attempt(wish('taken'));
      await Promise.all([cut, expect(resent).rejects.toThrow(unknown)]);
      expect((await backend.attempt(wish('taken'))).granted, 'it asks in its own database').toBe(false);
    });

    test('a fence that accepts a token there refuses the caller, since a newer token was seen', async () => {
      await using proxy = await startProxy(server.port);
      await using fleet = new Fleet(clients(proxy.port));
      await using others = new Fleet(clients(server.port));
      const client = await fleet.client('ioredis');
      const fence = redisFence(client, 'stock');
      await fence.claim(5n);
      await redisFence(await others.client('ioredis'), 'stock').claim(7n);
      const cut = proxy.cutBefore('fence:stock');
      await refuseOnce(proxy, client as unknown as EventEmitter);
      await Promise.all([cut, expect(fence.claim(6n)).rejects.toThrow(unknown)]);
      await expect(fence.claim(6n)).rejects.toMatchObject({ code: 'LOCK_FENCED' });
    });
  });

  for (const library of LIBRARIES) {
    test(`${library}: a database that was chosen by select() is that of the connections of ours, too`, async () => {
      await using fleet = new Fleet(clients(server.port, 0));
      const client = await fleet.client(library);
      await (client as unknown as Redis).select(5);
      const backend = redis(client, { replicas: { acknowledge: 1, within: 5 } });
      await expect(backend.attempt(wish('chosen'))).rejects.toMatchObject({
        message: expect.stringContaining('REPLICAS'),
      });
      expect(await strays(), 'the grant that was given back').toBe(NONE);
      await backend.close();
    });
  }
});
