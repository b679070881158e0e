import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { startEtcd, startEtcdMembers } from './etcd.ts';
import { temporaryFolder } from './folder.ts';
import { describeOnMysql } from './mysql-kinds.ts';
import { exchange, freePorts, HOST, take } from './net.ts';
import { startPostgres } from './postgres.ts';
import { startWorker } from './processes.ts';
import { find, MissingProgram, program } from './programs.ts';
import { askRedis, startRedis, startRedisCluster, startRedisNodes, startRedisSentinel } from './redis.ts';
import type { ServerCalls } from './server.test.worker.ts';
import { Server, type ServerPlan } from './server.ts';
import { describeOn } from './suite.ts';
import { until } from './wait.ts';
import { startZookeeper, startZookeeperMembers } from './zookeeper.ts';

const refused = (port: number): Promise<string> => exchange(port, '').catch((error) => error.code);

test('no port is given that somebody listens on, and none twice', async () => {
  const [first] = (await freePorts(1)) as [number];
  await using taken = createServer().listen(first + 1, HOST);
  await once(taken, 'listening');
  const others = new Set(await freePorts(50));
  expect(others.size).toBe(50);
  expect(others).not.toContain(first);
  expect(others).not.toContain(first + 1);
});

test('a port that one process was given is given to no other, though nothing listens on it yet', async () => {
  await using other = await startWorker<ServerCalls>(new URL('./server.test.worker.ts', import.meta.url));
  const [port] = (await other.call('ports', 1)) as [number];
  expect(await take(port), `whether port ${port}, which another process was given, is given to this one, too`).toBe(
    false,
  );
  await other.kill();
  expect(await take(port), 'whether it is free when that process has ended').toBe(true);
});

test('a process that looks for ports does not get in the way of another that opens its own', async () => {
  const [port] = (await freePorts(1)) as [number];
  await using other = await startWorker<ServerCalls>(new URL('./server.test.worker.ts', import.meta.url));
  const looked = other.call('take', port, 1_000);
  for (let opened = 0; opened < 500; opened++) {
    await using server = createServer().listen(port, HOST);
    await once(server, 'listening');
  }
  expect(await looked, `how often the other process got port ${port}`).toBe(0);
});

test('a command that is missing is named, with what to install', () => {
  expect(() => program('redis', 'no-such-command')).toThrow(MissingProgram);
  expect(() => program('redis', 'no-such-command')).toThrow('apt-get install redis-server');
});

const plan = (script: string): ServerPlan => ({
  name: 'script',
  port: 1,
  url: 'none:',
  command: process.execPath,
  args: () => ['-e', script],
  ready: async () => false,
  within: 300,
});

test('a server that ends at its start says why', async () => {
  const started = Server.start({ ...plan('console.error("bad flag"); process.exit(3)'), within: 5_000 });
  await expect(started).rejects.toThrow(/script on port 1 ended with exit code 3. It printed:\nbad flag/);
});

test('a server that never answers is ended, and the error has what it printed', async () => {
  const started = Server.start({ ...plan('console.log("thinking"); setInterval(() => {}, 1e3)'), within: 3_000 });
  await expect(started).rejects.toThrow(/script on port 1 is ready: not within 3000 ms. It printed:\nthinking/);
});

describeOn('redis', 'redis', () => {
  test('keeps or loses its data in a restart, as asked, on the same port', async () => {
    await using server = await startRedis({ appendonly: 'yes', appendfsync: 'always' });
    await askRedis(server.port, 'SET a 1');
    await server.restart();
    expect(await askRedis(server.port, 'GET a')).toBe('$1\r\n1\r\n');
    await server.restart({ wipe: true });
    expect(await askRedis(server.port, 'GET a')).toBe('$-1\r\n');
  });

  test('takes any directive', async () => {
    await using server = await startRedis({ maxmemory: '4mb', user: ['app', 'on', '>secret', '~a:*', '+@all'] });
    expect(await askRedis(server.port, 'CONFIG GET maxmemory')).toContain('4194304');
    expect(await askRedis(server.port, 'ACL LIST')).toContain('user app on');
  });

  test('does not answer while paused, and ends also then', async () => {
    await using server = await startRedis();
    server.pause();
    await expect(exchange(server.port, 'PING\r\n', Boolean, 100)).rejects.toThrow('did not answer');
    server.resume();
    expect(await askRedis(server.port, 'PING')).toBe('+PONG\r\n');
    server.pause();
  });

  test('leaves neither process nor port nor folder behind', async () => {
    const server = await startRedis();
    const folder = (await askRedis(server.port, 'CONFIG GET dir')).split('\r\n').at(-2)!;
    expect(existsSync(folder)).toBe(true);
    await server[Symbol.asyncDispose]();
    expect(() => process.kill(server.pid, 0)).toThrow('ESRCH');
    expect(await refused(server.port)).toBe('ECONNREFUSED');
    expect(existsSync(folder)).toBe(false);
  });

  const file = new URL('./server.test.worker.ts', import.meta.url);

  // Only Linux ends a child whose parent was killed.
  const signals = find('setpriv') ? (['SIGTERM', 'SIGKILL'] as const) : (['SIGTERM'] as const);
  test.each(signals)('does not outlive a process that is ended by %s', async (signal) => {
    // kill −9 leaves its folders behind; they are in this one.
    using folder = temporaryFolder();
    await using worker = await startWorker<ServerCalls>(file, { env: { TMPDIR: folder.path } });
    const { port } = await worker.call('start');
    expect(await askRedis(port, 'PING')).toBe('+PONG\r\n');
    await worker.end(signal);
    await until('the server is gone', async () => (await refused(port)) === 'ECONNREFUSED');
  });

  test('five start independent of each other', async () => {
    await using nodes = await startRedisNodes();
    await askRedis(nodes.servers[0]!.port, 'SET a 1');
    expect(nodes.servers.length).toBe(5);
    expect(await askRedis(nodes.servers[1]!.port, 'GET a')).toBe('$-1\r\n');
  });

  test('sentinels replace a killed primary', async () => {
    await using group = await startRedisSentinel();
    const [first] = group.servers;
    expect(await group.primary()).toBe(first!.port);
    await first!.kill();
    await until('another primary', async () => (await group.primary()) !== first!.port);
    const role = async (): Promise<boolean> => (await askRedis(await group.primary(), 'ROLE')).includes('master');
    await until('it took over', role);
  });

  test('a cluster replaces a killed primary', async () => {
    await using cluster = await startRedisCluster();
    const [first, second] = cluster.servers;
    await first!.kill();
    const failed = async (): Promise<boolean> => /master,fail/.test(await askRedis(second!.port, 'CLUSTER NODES'));
    await until('its death is noticed', failed);
    const whole = async (): Promise<boolean> => /cluster_state:ok/.test(await askRedis(second!.port, 'CLUSTER INFO'));
    await until('all slots are served again', whole);
  });
});

describeOn('etcd', 'etcd', () => {
  test('one member starts', async () => {
    await using server = await startEtcd();
    expect(await exchange(server.port, 'GET /version HTTP/1.0\r\n\r\n')).toContain('etcdserver');
  });

  test('three members go on without one', async () => {
    await using cluster = await startEtcdMembers();
    await cluster.servers[0]!.kill();
    await cluster.servers[1]!.ready();
  });
});

describeOn('zookeeper', 'zookeeper', () => {
  test('one server starts', async () => {
    await using server = await startZookeeper();
    expect(await exchange(server.port, 'srvr')).toContain('Mode: standalone');
  });

  test('three servers elect one leader', async () => {
    await using ensemble = await startZookeeperMembers();
    const modes = await Promise.all(ensemble.servers.map(({ port }) => exchange(port, 'srvr')));
    expect(modes.filter((text) => text.includes('Mode: leader')).length).toBe(1);
  });
});

describeOnMysql('a server', ({ name, start }) => {
  test('starts from a template and survives kill −9', async () => {
    await using server = await start();
    await server.restart();
    const word = { MariaDB: 'MariaDB', MySQL: 'caching_sha2_password' }[name];
    expect(await exchange(server.port, '', Boolean)).toContain(word);
  });
});

describeOn('postgres', 'postgres', () => {
  test('starts from a template and survives kill −9', async () => {
    await using server = await startPostgres();
    await server.restart();
    expect(server.alive).toBe(true);
  });
});
