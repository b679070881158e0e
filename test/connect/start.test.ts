import { expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import type { LockError } from '../../src/index.ts';
import { startEtcd } from '../kit/etcd.ts';
import { startMariadb } from '../kit/mariadb.ts';
import { HOST } from '../kit/net.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startProxy } from '../kit/proxy.ts';
import { startRedis, startRedisNodes } from '../kit/redis.ts';
import type { Engine } from '../kit/selection.ts';
import { describeOn } from '../kit/suite.ts';
import { startZookeeper } from '../kit/zookeeper.ts';

/** Of one server that listens at a port. */
const STARTS: readonly [Engine, () => Promise<AsyncDisposable & { readonly url: string; readonly port: number }>][] = [
  ['redis', () => startRedis()],
  ['postgres', () => startPostgres()],
  ['mysql', () => startMariadb()],
  ['etcd', () => startEtcd()],
  ['zookeeper', () => startZookeeper()],
];

for (const [engine, start] of STARTS) {
  describeOn(engine, `connect() to ${engine} that is not there yet`, () => {
    test('goes on trying within the time that it is given, tells why, and is open when the server is there', async () => {
      await using server = await start();
      await using proxy = await startProxy(server.port);
      proxy.refuse();
      const url = server.url.replace(`:${server.port}`, `:${proxy.port}`);
      const told: LockError[] = [];
      const met = Promise.withResolvers<void>();
      const onError = (error: LockError): void => {
        told.push(error);
        met.resolve();
      };
      const opening = connect(url, { wait: '5s' }, { within: '25s', onError });
      opening.catch(met.reject);
      await met.promise;
      await proxy.pass();
      await using locks = await opening;
      await using lease = await locks.mutex('there').acquire();
      expect(lease.held).toBe(true);
      expect(told[0]).toMatchObject({
        code: 'LOCK_UNAVAILABLE',
        message: expect.stringMatching(/could not connect to/),
      });
    });
  });
}

describeOn('redis', 'connect() at the start', () => {
  const nobody = `redis://${HOST}:1`;

  test('by default tries once', async () => {
    const began = performance.now();
    await expect(connect(nobody)).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  test('gives up when its time is over, with the last error', async () => {
    const told: unknown[] = [];
    const opening = connect(nobody, {}, { within: 600, onError: (error) => told.push(error) });
    await expect(opening).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(told.length).toBeGreaterThan(1);
  });

  test('is ended by its signal, between two tries and within one', async () => {
    const between = AbortSignal.timeout(200);
    await expect(connect(nobody, {}, { within: '1m', signal: between })).rejects.toMatchObject({
      code: 'LOCK_ABORTED',
    });
    await using server = await startRedis();
    server.pause();
    try {
      const began = performance.now();
      const opening = connect(server.url, {}, { within: '1m', signal: AbortSignal.timeout(200) });
      await expect(opening).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
      expect(performance.now() - began, 'less than the limit of a try').toBeLessThan(3_000);
    } finally {
      server.resume();
    }
  });

  test.each([
    ['an unknown option', { withn: '1s' }, /"withn" is not one of the options of connect/],
    ['a time that is none', { within: 'soon' }, /within is "soon"/],
  ])('%s is refused', async (_title, options, message) => {
    await expect(connect('memory:', {}, options as object)).rejects.toMatchObject({
      code: 'LOCK_INVALID',
      message: expect.stringMatching(message),
    });
  });

  test('of a quorum, a majority that comes up is enough', async () => {
    await using nodes = await startRedisNodes(3);
    const [first, ...others] = nodes.servers;
    await Promise.all(others.map((node) => node.kill()));
    const met = Promise.withResolvers<void>();
    const opening = connect(nodes.url, { wait: '10s' }, { within: '25s', onError: () => met.resolve() });
    opening.catch(met.reject);
    await met.promise;
    await others[0]!.restart();
    await using locks = await opening;
    expect(first!.alive).toBe(true);
    expect(locks).toBeDefined();
  });
});
