import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ConnectionLost, KeeperError } from '../../../../src/backends/zookeeper/wire/errors.ts';
import type { SessionSettings } from '../../../../src/backends/zookeeper/wire/open.ts';
import {
  createEphemeralSequential,
  createPersistent,
  exists,
  getChildren,
  getData,
  OPEN,
  setData,
  sync,
} from '../../../../src/backends/zookeeper/wire/operations.ts';
import { ZooKeeperSession } from '../../../../src/backends/zookeeper/wire/session.ts';
import { systemClock } from '../../../../src/core/contract/clock.ts';
import { HOST } from '../../../kit/net.ts';
import { startProxy } from '../../../kit/proxy.ts';
import type { Server } from '../../../kit/server.ts';
import { describeOn } from '../../../kit/suite.ts';
import { settleWithin, until } from '../../../kit/wait.ts';
import { startZookeeper } from '../../../kit/zookeeper.ts';

const TIMEOUT = 2_000;
const WITHIN = 5_000;

class Told {
  readonly onConnection = vi.fn();
  readonly onExpiry = vi.fn();
  readonly doubtful = vi.fn();
}

interface OpenSession extends AsyncDisposable {
  readonly session: ZooKeeperSession;
  readonly told: Told;
}

function open(ports: readonly number[], wishes: Partial<SessionSettings> = {}): OpenSession {
  const told = new Told();
  const servers = ports.map((port) => ({ host: HOST, port }));
  const session = new ZooKeeperSession({ servers, timeout: TIMEOUT, clock: systemClock, ...wishes }, told);
  return { session, told, [Symbol.asyncDispose]: () => session.close() };
}

const node = (name: string) => createEphemeralSequential(`/${name}-`, Buffer.from('data'), OPEN);

describeOn('zookeeper', 'a session', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startZookeeper({ tickTime: '200', maxSessionTimeout: '30000' });
  }, 60_000);
  afterAll(() => server?.[Symbol.asyncDispose]());

  test('requests are answered in order, and the last sees what the first has done', async () => {
    await using opened = open([server.port]);
    const connection = await opened.session.connection(WITHIN);
    const [first, second, { names }] = await Promise.all([
      connection.request(node('order')),
      connection.request(node('order')),
      connection.request(getChildren('/')),
    ]);
    expect(names).toEqual(expect.arrayContaining([first.path.slice(1), second.path.slice(1)]));
    expect(second.stat.czxid).toBeGreaterThan(first.stat.czxid);
    expect(first.stat.ephemeralOwner).toBe(connection.session);
    expect((await connection.request(getData(first.path))).data.toString()).toBe('data');
  });

  test("the server's refusal is an error with its code", async () => {
    await using opened = open([server.port]);
    const connection = await opened.session.connection(WITHIN);
    const refused = await connection.request(getData('/nothing')).catch((error) => error);
    expect(refused).toBeInstanceOf(KeeperError);
    expect(refused.code).toBe(-101);
  });

  test('a watch tells once, of a change that comes after it was armed', async () => {
    await using opened = open([server.port]);
    const connection = await opened.session.connection(WITHIN);
    const { path } = await connection.request(node('watched'));
    const told = vi.fn();
    await connection.request(getData(path), told);
    expect(told).not.toHaveBeenCalled();
    await connection.request(setData(path, Buffer.from('1')));
    await connection.request(setData(path, Buffer.from('2')));
    await connection.request(sync);
    expect(told).toHaveBeenCalledTimes(1);
  });

  test.for([
    'set',
    'on its way',
  ])('a watcher misses no change of a node, though another watcher of that node ends while its own watch is %s', async (state) => {
    await using opened = open([server.port]);
    const connection = await opened.session.connection(WITHIN);
    const [ended, looks] = [vi.fn(), vi.fn()];
    const path = `/${encodeURIComponent(state)}`;
    await connection.request(exists(path), ended).catch(() => {}); // the node is missing
    const second = connection.request(exists(path), looks).catch(() => {});
    if (state === 'set') await second;
    connection.unwatch(path, ended);
    await second;
    await connection.request(createPersistent(path, Buffer.from('data'), OPEN));
    await connection.request(sync);
    expect(looks).toHaveBeenCalledTimes(1);
    expect(ended).not.toHaveBeenCalled();
  });

  test('closing ends the session on the server at once', async () => {
    await using other = open([server.port]);
    const opened = open([server.port]);
    const { path } = await (await opened.session.connection(WITHIN)).request(node('closing'));
    await opened.session.close();
    const { names } = await (await other.session.connection(WITHIN)).request(getChildren('/'));
    expect(names).not.toContain(path.slice(1));
    expect(opened.told.onExpiry).not.toHaveBeenCalled();
    await expect(opened.session.connection(WITHIN)).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  });

  test.for([
    'connected',
    'connecting',
  ])('closing has an end, however long the session and silent the server (%s)', async (state) => {
    await using proxy = await startProxy(server.port);
    await using opened = open([proxy.port], { timeout: 60_000 });
    await opened.session.connection(WITHIN);
    proxy.blackhole();
    if (state === 'connecting') {
      proxy.cut();
      await until('it connects again', () => proxy.open === 1 && proxy.connections === 2);
    }
    await settleWithin('the end', opened.session.close(), 5_000);
  });

  test('a cut connection fails what is on its way, tells the watches, and the session goes on over the next', async () => {
    await using proxy = await startProxy(server.port);
    await using opened = open([proxy.port]);
    const connection = await opened.session.connection(WITHIN);
    const { path } = await connection.request(node('cut'));
    const told = vi.fn();
    await connection.request(getData(path), told);
    proxy.stall('down');
    const unanswered = connection.request(getData(path));
    proxy.cut();
    await expect(unanswered).rejects.toBeInstanceOf(ConnectionLost);
    expect(told).toHaveBeenCalledTimes(1);
    await proxy.pass();
    const next = await opened.session.connection(WITHIN);
    expect(next.session).toBe(connection.session);
    expect((await next.request(getData(path))).stat.ephemeralOwner).toBe(connection.session);
    expect(opened.told.onExpiry).not.toHaveBeenCalled();
  });

  test('a server that falls silent is given up in half the session timeout, and the session goes on elsewhere', async () => {
    await using silent = await startProxy(server.port);
    const timeout = 2 * TIMEOUT;
    await using opened = open([silent.port], { timeout });
    const connection = await opened.session.connection(WITHIN);
    silent.blackhole();
    const given = settleWithin('that it is given up', connection.request(sync), timeout * 0.75);
    await expect(given).rejects.toBeInstanceOf(ConnectionLost);
    await silent.pass();
    expect((await opened.session.connection(WITHIN)).session).toBe(connection.session);
  });

  test('a server that falls silent is given up after 5 s and a sign of life, also in a long session', async () => {
    await using proxy = await startProxy(server.port);
    await using opened = open([proxy.port], { timeout: 30_000 });
    const connection = await opened.session.connection(WITHIN);
    proxy.blackhole();
    await expect(settleWithin('an answer', connection.request(sync), 10_000)).rejects.toThrow(ConnectionLost);
    await proxy.pass();
  });

  test('out of reach, the session is doubtful before the server may end it, and known to be over afterwards', async () => {
    await using proxy = await startProxy(server.port);
    await using opened = open([proxy.port]);
    await using other = open([server.port]);
    const connection = await opened.session.connection(WITHIN);
    const { path } = await connection.request(node('expiring'));
    const elsewhere = await other.session.connection(WITHIN);
    let over = false;
    const gone = new Promise<void>((resolve) => void elsewhere.request(getData(path), resolve)).then(() => {
      over = true;
    });
    const doubted = new Promise<boolean>((resolve) => opened.told.doubtful.mockImplementation(() => resolve(over)));
    proxy.blackhole();
    expect(await settleWithin('doubt', doubted), 'whether the session was over by then').toBe(false);
    expect(opened.told.doubtful).toHaveBeenCalledExactlyOnceWith(connection.session);
    expect(opened.told.onExpiry).not.toHaveBeenCalled();
    await settleWithin('the server ends the session', gone);
    await proxy.pass();
    const next = await opened.session.connection(WITHIN);
    expect(next.session).not.toBe(connection.session);
    expect(opened.told.onExpiry).toHaveBeenCalledExactlyOnceWith(connection.session);
  });

  test('an idle session is kept alive', async () => {
    const timeout = 2 * TIMEOUT;
    await using opened = open([server.port], { timeout });
    const connection = await opened.session.connection(WITHIN);
    const { path } = await connection.request(node('idle'));
    for (let i = 0; i < 8; i++) {
      await new Promise((resolve) => setTimeout(resolve, timeout / 5));
      expect(connection.sureUntil).toBeGreaterThan(systemClock.now());
    }
    expect(connection.alive).toBe(true);
    expect((await connection.request(getData(path))).stat.ephemeralOwner).toBe(connection.session);
  });

  test('a stall of this process is not taken for the silence of the server', async () => {
    await using opened = open([server.port]);
    const connection = await opened.session.connection(WITHIN);
    const answer = connection.request(sync);
    await new Promise(setImmediate); // it is sent
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TIMEOUT * 0.4);
    await answer;
    expect(connection.alive).toBe(true);
  });

  test('without a server every wait for one ends in time, and says why', async () => {
    await using mute = createServer((socket) => void socket.on('error', () => {}).resume()).listen(0, HOST);
    await once(mute, 'listening');
    const { port } = mute.address() as { port: number };
    await using opened = open([port]);
    const wait = settleWithin('the end of the wait', opened.session.connection(300), 2_000);
    await expect(wait).rejects.toThrow(/no ZooKeeper server could be had/);
  });

  test.for([
    'HTTP/1.1 400 Bad Request\r\n\r\n',
    '\0\0\0\u0004\0\0\0\0',
    '\0\0\0\0',
  ])('what answers %j is not taken for ZooKeeper', async (answer) => {
    await using stranger = createServer(
      (socket) =>
        void socket
          .on('error', () => {})
          .resume()
          .end(answer),
    ).listen(0, HOST);
    await once(stranger, 'listening');
    await using opened = open([(stranger.address() as { port: number }).port]);
    await expect(opened.session.connection(300)).rejects.toBeInstanceOf(ConnectionLost);
  });
});
