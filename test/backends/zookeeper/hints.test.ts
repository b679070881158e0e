import { afterAll, beforeAll, expect, test } from 'vitest';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import { getChildren } from '../../../src/backends/zookeeper/wire/operations.ts';
import { ZooKeeperSession } from '../../../src/backends/zookeeper/wire/session.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { createLocks } from '../../../src/index.ts';
import { HOST } from '../../kit/net.ts';
import { startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { startZookeeper } from '../../kit/zookeeper.ts';

const silent = { onConnection() {}, onExpiry() {}, doubtful() {} };

describeOn('zookeeper', 'hints on ZooKeeper', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startZookeeper();
  }, 60_000);
  afterAll(() => server?.[Symbol.asyncDispose]());

  test('a hint outlives the session of its writer; one that is over goes with the next that is written; none is a key', async () => {
    const open = () => zookeeper({ servers: `${HOST}:${server.port}` });
    const session = new ZooKeeperSession({ servers: [server], timeout: 10_000, clock: systemClock }, silent);
    const stored = async () => (await (await session.connection(5_000)).request(getChildren('/holdfast/@hints'))).names;

    const writer = open();
    await writer.hints!.write('day/1', 'kept', 60_000);
    await writer.hints!.write('short', 'over', 500);
    await writer.close();
    const reader = open();
    await until('the short one is over', async () => (await reader.hints!.read('short')) === undefined);
    expect(await reader.hints!.read('day/1')).toBe('kept');
    expect(await stored()).toHaveLength(2);
    await reader.hints!.write('day/1', 'again', 60_000);
    expect(await stored()).toHaveLength(1);
    expect(await reader.hints!.read('day/1')).toBe('again');
    await using locks = createLocks(reader);
    for await (const { key } of locks.inspect()) expect.fail(`${key} is listed`);
    await session.close();
  });

  test('of writers at once each hint is there', async () => {
    const clients = [1, 2, 3].map(() => zookeeper({ servers: `${HOST}:${server.port}`, prefix: 'crowd' }));
    await Promise.all(clients.map(({ hints }, n) => hints!.write(`hint ${n}`, `${n}`, 60_000)));
    for (const n of [0, 1, 2]) expect(await clients[0]!.hints!.read(`hint ${n}`)).toBe(`${n}`);
    await Promise.all(clients.map((client) => client.close()));
  });

  test('a hint that is over is none, though nobody has removed it, and it counts again when it is written again', async () => {
    const client = zookeeper({ servers: `${HOST}:${server.port}`, prefix: 'left' });
    await client.hints!.write('day', 'short', 500);
    await until('it is over', async () => (await client.hints!.read('day')) === undefined);
    const session = new ZooKeeperSession({ servers: [server], timeout: 10_000, clock: systemClock }, silent);
    const connection = await session.connection(5_000);
    expect((await connection.request(getChildren('/left/@hints'))).names, 'nobody has removed it').toEqual(['day']);
    await client.hints!.write('day', 'with a blank, and\n2 lines', 60_000);
    expect(await client.hints!.read('day')).toBe('with a blank, and\n2 lines');
    await client.hints!.write('day', undefined, 0);
    expect((await connection.request(getChildren('/left/@hints'))).names).toEqual([]);
    await session.close();
    await client.close();
  });

  test('a tick whose hint was written unheard is run by its writer: the others leave it to nobody else', async () => {
    await using proxy = await startProxy(server.port);
    const open = (at: { host: string; port: number }) =>
      createLocks(zookeeper({ servers: `${at.host}:${at.port}`, prefix: 'unheard' }));
    await using writer = open(proxy);
    await using other = open({ host: HOST, port: server.port });
    const due = new Date();
    expect(await writer.once('first', due, () => 1), 'it is connected').toMatchObject({ ran: true });
    // The path, and the length of what is written: a read has no such length.
    const cut = proxy.cutAfter('%23done\0\0\0');
    const ran = writer.once('job', due, () => 1);
    await cut;
    expect(await other.once('job', due, () => 1)).toMatchObject({ reason: 'taken' });
    expect(await ran).toMatchObject({ ran: true });
  });
});
