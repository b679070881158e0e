import { afterAll, beforeAll, expect, test } from 'vitest';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import { createPersistentSequential, getChildren, OPEN } from '../../../src/backends/zookeeper/wire/operations.ts';
import { Session } from '../../../src/backends/zookeeper/wire/session.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { createLocks } from '../../../src/index.ts';
import { HOST } from '../../kit/net.ts';
import { startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { startZookeeper } from '../../kit/zookeeper.ts';

const silent = { onConnection() {}, onExpiry() {}, doubtful() {} };

describeOn('zookeeper', 'notes on ZooKeeper', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startZookeeper();
  }, 60_000);
  afterAll(() => server?.[Symbol.asyncDispose]());

  test('a note outlives the session of its writer; one that is over goes with the next that is written; none is a key', async () => {
    const open = () => zookeeper({ servers: `${HOST}:${server.port}` });
    const session = new Session([server], { timeout: 10_000, tls: undefined, auth: undefined }, systemClock, silent);
    const stored = async () => (await (await session.connection(5_000)).request(getChildren('/holdfast/@notes'))).names;

    const writer = open();
    await writer.hints!.write('day/1', 'kept', 60_000);
    await writer.hints!.write('short', 'over', 500);
    await writer.close();
    const reader = open();
    await until('the short one is over', async () => (await reader.hints!.read('short')) === undefined);
    expect(await reader.hints!.read('day/1')).toBe('kept');
    expect(await stored()).toHaveLength(2);
    await reader.hints!.write('day/1', 'anew', 60_000);
    expect(await stored()).toHaveLength(1);
    expect(await reader.hints!.read('day/1')).toBe('anew');
    await using locks = createLocks(reader);
    for await (const { key } of locks.inspect()) expect.fail(`${key} is listed`);
    await session.close();
  });

  test('of writers at once each note is there', async () => {
    const clients = [1, 2, 3].map(() => zookeeper({ servers: `${HOST}:${server.port}`, prefix: 'crowd' }));
    await Promise.all(clients.map(({ hints }, n) => hints!.write(`note ${n}`, `${n}`, 60_000)));
    for (const n of [0, 1, 2]) expect(await clients[0]!.hints!.read(`note ${n}`)).toBe(`${n}`);
    await Promise.all(clients.map((client) => client.close()));
  });

  test('what a writer that died left of earlier notes goes with the next note, and none of it comes back', async () => {
    const client = zookeeper({ servers: `${HOST}:${server.port}`, prefix: 'left' });
    await client.hints!.write('other', 'makes the folder', 60_000);
    const session = new Session([server], { timeout: 10_000, tls: undefined, auth: undefined }, systemClock, silent);
    const connection = await session.connection(5_000);
    const make = (ttl: number) => {
      const path = `/left/@notes/day@${Date.now() + ttl}-`;
      return connection.request(createPersistentSequential(path, Buffer.from(`${ttl}`), OPEN));
    };
    await make(60_000);
    await make(-1);
    expect(await client.hints!.read('day'), 'the newest is over').toBeUndefined();
    await client.hints!.write('other', 'anew', 60_000);
    expect(await client.hints!.read('day')).toBeUndefined();
    const { names } = await connection.request(getChildren('/left/@notes'));
    expect(names.filter((name) => name.startsWith('day'))).toEqual([]);
    await session.close();
    await client.close();
  });

  test('a tick whose note was written unheard is run by its writer: the others leave it to nobody else', async () => {
    await using proxy = await startProxy(server.port);
    const open = (at: { host: string; port: number }) =>
      createLocks(zookeeper({ servers: `${at.host}:${at.port}`, prefix: 'unheard' }));
    await using writer = open(proxy);
    await using other = open({ host: HOST, port: server.port });
    const due = new Date();
    expect(await writer.once('first', due, () => 1), 'it is connected').toMatchObject({ ran: true });
    const cut = proxy.cutAfter('%23done@');
    const ran = writer.once('job', due, () => 1);
    await cut;
    expect(await other.once('job', due, () => 1)).toMatchObject({ reason: 'taken' });
    expect(await ran).toMatchObject({ ran: true });
  });
});
