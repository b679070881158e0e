import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { file } from '../../src/backends/file/index.ts';
import { connect } from '../../src/connect/index.ts';
import { urlOfFile } from '../../src/connect/url.ts';
import { createLocks, isLockError, type LockError } from '../../src/index.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { askRedis, startRedis } from '../kit/redis.ts';
import { chosenEngines } from '../kit/selection.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { ADDRESSES, clientsOf, type Opened, plus, refused } from './engines.ts';

const CANARY = 'canary/7:f@3 %';

/** The error that this must end with, whose every print is free of the password. */
async function refusal(url: string, secret: string, within = 0): Promise<LockError> {
  const error = await connect(url, {}, { within }).then(
    async (locks) => {
      await locks.close();
      throw new Error(`connected to ${url}`);
    },
    (thrown: unknown) => thrown,
  );
  if (!isLockError(error)) throw new Error(`not a LockError: ${inspect(error)}`, { cause: error });
  for (const text of [inspect(error, { depth: 20, showHidden: true }), String(error), JSON.stringify(error)]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(encodeURIComponent(secret));
  }
  return error;
}

describe.each(ADDRESSES)('$name', ({ engine, start, refuses, dead }) => {
  describeOn(engine, 'a server of ours', () => {
    let server: Opened;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server?.[Symbol.asyncDispose]());

    test('opens, locks, and closes what it opened', async () => {
      await using locks = await connect(server.url, { label: 'here' });
      await using lease = await locks.mutex('order:42').acquire();
      expect(lease.held).toBe(true);
      await using others = await connect(server.url);
      expect(await others.mutex('order:42').tryAcquire()).toBeNull();
    });

    test('keeps prefixes apart', async () => {
      await using locks = await connect(plus(server.url, 'prefix=one'));
      await using others = await connect(plus(server.url, 'prefix=two'));
      await using lease = await locks.mutex('order:43').acquire();
      await using other = await others.mutex('order:43').tryAcquire();
      expect([lease.held, other?.held]).toEqual([true, true]);
    });

    test.runIf(refuses)('says that a user or password is wrong, and not which password', async () => {
      // At once: asking again would not help.
      const error = await refusal(refused(server.url, CANARY), CANARY, 600_000);
      expect(error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      expect(error.message).toMatch(/WRONGPASS|denied|role was refused/i);
    });

    test('refuses a parameter that it does not know', async () => {
      expect(await refusal(plus(server.url, 'sslmodus=require'), CANARY)).toMatchObject({
        code: 'LOCK_INVALID',
        message: expect.stringContaining('sslmodus'),
      });
    });
  });

  // Needs no server, but a driver's patience.
  test.runIf(chosenEngines(process.env.BACKENDS).includes(engine))(
    'says in bounded time that nobody is there',
    async () => {
      const began = performance.now();
      const error = await refusal(dead, 'canary');
      expect(error.code).toBe('LOCK_UNAVAILABLE');
      expect(error.message).toContain('could not connect to');
      expect(performance.now() - began).toBeLessThan(9_000);
    },
  );
});

describeOn('redis', 'a Redis', () => {
  test('that is stopped is given up, and no connection stays', async () => {
    await using server = await startRedis();
    server.pause();
    try {
      expect(await refusal(server.url, CANARY)).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    } finally {
      server.resume();
    }
    await until('the connection is gone', async () => (await clientsOf(server.port)) === 0);
  });

  test('has no connection of ours after close', async () => {
    await using server = await startRedis();
    const locks = await connect(server.url);
    await locks.mutex('order:42').run(async () => {});
    expect(await clientsOf(server.port)).toBeGreaterThan(0);
    await locks.close();
    await until('the connections are gone', async () => (await clientsOf(server.port)) === 0);
  });

  test('is left alone when the options are bad', async () => {
    await using server = await startRedis();
    await expect(connect(server.url, { ttl: -1 })).rejects.toMatchObject({ code: 'LOCK_INVALID' });
    await until('the connections are gone', async () => (await clientsOf(server.port)) === 0);
  });

  test('is not even asked when the prefix is bad', async () => {
    await using server = await startRedis();
    const connections = async (): Promise<number> =>
      Number(/total_connections_received:(\d+)/.exec(await askRedis(server.port, 'INFO stats'))![1]);
    const before = await connections();
    expect((await refusal(plus(server.url, 'prefix=a/b'), CANARY)).code).toBe('LOCK_INVALID');
    expect(await connections()).toBe(before + 1); // to ask
  });

  test('has the database of the path, and no other', async () => {
    await using server = await startRedis();
    await using locks = await connect(`${server.url}/1`);
    await using others = await connect(`${server.url}/2`);
    await using lease = await locks.mutex('order:42').acquire();
    await using other = await others.mutex('order:42').tryAcquire();
    expect([lease.held, other?.held]).toEqual([true, true]);
    expect((await refusal(`${server.url}/one`, CANARY)).code).toBe('LOCK_INVALID');
  });
});

test.each([
  ['not a URL', 'give me locks', /not a URL/],
  ['a variable that is not set', undefined as unknown as string, /is undefined and not a URL/],
  ['a scheme that nobody has', 'mongo://nobody:canary@h', /no engine has URLs of mongo:; there are memory:/],
  ['a slash in the password', 'redis://nobody:canary/x@h', /percent-encoded/],
  ['an @ in the password', 'redis://nobody:x@canary@h', /percent-encoded/],
  ['what the driver does not know', 'mongodb://nobody:canary@h/app?sslmodus=require&prefix=x', /sslmodus/],
  [
    'the same beside the password of a file',
    'mongodb://h/app?tlsCertificateKeyFilePassword=canary&sslmodus=x',
    /sslmodus/,
  ],
  ['the same beside a proxy', 'mongodb://h/app?sslmodus=x&proxyHost=p&proxyPassword=canary', /sslmodus/],
  ['a session token', 'mongodb://h/app?sslmodus=x&authMechanismProperties=AWS_SESSION_TOKEN:canary', /sslmodus/],
  ['a lone %', 'redis://nobody:canary%@h', /%25/],
  ['two hosts for one server', 'redis://nobody:canary@h1,h2', /names one server/],
  ['a database beside the path', 'redis://nobody:canary@h?db=5', /\?db= is for redis\+sentinel/],
  ['another database than the path', 'redlock+redis://nobody:canary@h,i,j/4?db=5', /\?db= is for redis\+sentinel/],
  ['a database of a Cluster', 'redis+cluster://nobody:canary@h?db=5', /a Cluster has but 0/],
  ['a file without a path', 'file:', /needs a path/],
  ['a file of another host', 'file://data/locks.db', /file:\/\/\/absolute/],
  ['a path that means nothing', 'etcd://nobody:canary@h/app', /\?prefix=/],
  ['a session of half a second', 'zookeeper://nobody:canary@h?sessionTimeout=500', /sessionTimeout .*from 1 s/],
  ['an option given twice', 'etcd://nobody:canary@h?tls=false&tls=true', /\?tls= is given more than once/],
  ['TLS that is asked for and refused', 'rediss://nobody:canary@h?tls=false', /TLS, and tls is false/],
  ['certificates without TLS', 'etcd://nobody:canary@h?tls=false&ca=/x', /cannot be read|need TLS/],
])('%s is refused, and its password not shown', async (_title, url, message) => {
  const error = await refusal(url, 'canary');
  expect(error).toMatchObject({ code: 'LOCK_INVALID', message: expect.stringMatching(message) });
});

describeOn('file', 'a file by its URL', () => {
  test('is the file that the platform means by it, whatever its name', async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'my locks, 100% ours #1?.db');
    await using locks = createLocks(file({ path }));
    await using lease = await locks.mutex('order:42').acquire();
    expect(lease.held).toBe(true);
    const { href } = pathToFileURL(path);
    for (const url of [
      href,
      href.replace('file://', 'file:'),
      href.replace('file://', 'file://localhost'),
      urlOfFile(path),
    ]) {
      await using others = await connect(url);
      expect(await others.mutex('order:42').tryAcquire(), url).toBeNull();
    }
  });
});
