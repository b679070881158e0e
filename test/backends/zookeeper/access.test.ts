import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type ZookeeperOptions, zookeeper } from '../../../src/backends/zookeeper/index.ts';
import { OwnNodes } from '../../../src/backends/zookeeper/own-nodes.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { startAuthority } from '../../kit/certificates.ts';
import { HOST } from '../../kit/net.ts';
import { missing } from '../../kit/programs.ts';
import { startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { startZookeeper } from '../../kit/zookeeper.ts';

const ALICE = { user: 'alice', password: 'p:ss' };
const SECRET = 'hunter2-canary';

describeOn('zookeeper', 'rights, TLS and what endangers locks', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startZookeeper({ tickTime: '500', minSessionTimeout: '4000', maxSessionTimeout: '20000' });
  }, 60_000);
  afterAll(() => server?.[Symbol.asyncDispose]());

  const backend = (options: Partial<ZookeeperOptions> = {}) =>
    zookeeper({ servers: `${HOST}:${server.port}`, sessionTimeout: 5_000, ...options });
  const client = (options?: Partial<ZookeeperOptions>): Locks => createLocks(backend(options));

  test('with auth, locks belong to the user, and to every client of the user', async () => {
    await using first = client({ prefix: 'digest', auth: ALICE });
    await using second = client({ prefix: 'digest', auth: ALICE });
    const lease = await first.mutex('a').acquire();
    expect(await second.mutex('a').tryAcquire()).toBeNull();
    await lease.release();
    await (await second.mutex('a').acquire({ wait: 5_000 })).release();
  });

  test.for([
    ['without a name', undefined],
    ['another user', { user: 'mallory', password: SECRET }],
    ['the same name with another password', { user: 'alice', password: SECRET }],
  ] as const)('a stranger (%s) can neither take, nor list, nor evict them, and is told so at once', async ([
    ,
    auth,
  ]) => {
    await using owner = client({ prefix: 'digest', auth: ALICE });
    await using stranger = client({ prefix: 'digest', auth });
    const lease = await owner.mutex('mine').acquire();
    const unavailable = expect.objectContaining({ code: 'LOCK_UNAVAILABLE', message: expect.stringMatching(/auth/) });
    for (const key of ['mine', 'new']) {
      const refused = await stranger
        .mutex(key)
        .acquire({ wait: 5_000 })
        .catch((error) => error);
      expect(refused).toEqual(unavailable);
      expect(`${refused.stack} ${refused.cause?.stack}`).not.toContain(SECRET);
    }
    const list = async () => {
      for await (const _ of stranger.inspect()) expect.unreachable('nothing may be shown');
    };
    await expect(list()).rejects.toEqual(unavailable);
    await expect(stranger.forceRelease('mine', { reason: 'test' })).rejects.toEqual(unavailable);
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
  });

  test('acquires that the server refuses a stranger leave nothing in this process', async () => {
    await using owner = client({ prefix: 'digest', auth: ALICE });
    await owner.mutex('mine').run(() => {});
    const begin = vi.spyOn(OwnNodes.prototype, 'begin');
    await using stranger = client({ prefix: 'digest' });
    for (let asked = 0; asked < 3; asked++)
      await expect(stranger.mutex('mine').tryAcquire()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    const own = begin.mock.contexts[0] as OwnNodes;
    expect(begin).toHaveBeenCalledTimes(3);
    expect(own.leaving.size, 'claims that are still to be removed').toBe(0);
    const [claim] = begin.mock.calls[0]!;
    begin.mockRestore();
    expect(own.begin(claim), 'nothing is known of a refused claim').toBe(true);
  });

  test('who may make and remove nodes, but not list them, is refused, and leaves none', async () => {
    const acl = [
      { permissions: 31, scheme: 'auth', id: '' },
      { permissions: 4 | 8, scheme: 'world', id: 'anyone' },
    ];
    await using owner = client({ prefix: 'blind', auth: ALICE, acl });
    await using blind = client({ prefix: 'blind' });
    await owner.mutex('a').run(() => {});
    await expect(blind.mutex('a').tryAcquire()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await owner.mutex('a').run(() => {}, { wait: 3_000 });
  });

  test('an ACL that the server does not take is a definite refusal', async () => {
    await using locks = client({ prefix: 'acl', acl: [{ permissions: 31, scheme: 'auth', id: '' }] });
    await expect(locks.mutex('a').acquire({ wait: 5_000 })).rejects.toThrow(/`acl`/);
  });

  test.for<Partial<ZookeeperOptions>>([
    { servers: '' },
    { servers: 'a:b' },
    { prefix: '../x' },
    { prefix: 'zookeeper' },
    { sessionTimeout: 10 },
    { auth: { user: 'a:b', password: 'c' } },
    { sessionTimeOut: 20_000 } as Partial<ZookeeperOptions>,
    { prefix: null } as unknown as Partial<ZookeeperOptions>,
    { acl: 'world:anyone:cdrwa' } as unknown as Partial<ZookeeperOptions>,
    { acl: [{ perms: 31, scheme: 'world', id: 'anyone' }] } as unknown as Partial<ZookeeperOptions>,
    { acl: [{ permissions: 32, scheme: 'world', id: 'anyone' }] },
    { acl: [] },
  ])('a bad option is refused when it is given: %o', (options) => {
    expect(() => backend(options)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
  });

  test('a ttl shorter than the session is refused before anything is sent', async () => {
    await using locks = client();
    await expect(locks.mutex('a').acquire({ ttl: 4_999 })).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  });

  const codes = async (options: Partial<ZookeeperOptions>) => {
    const opened = backend(options);
    try {
      return (await opened.check!()).map(({ severity, code }) => `${severity} ${code}`);
    } finally {
      await opened.close();
    }
  };

  test('check gets the version from any server, and has an answer also where none says it', async () => {
    await using silent = await startProxy(server.port);
    silent.stall('up');
    const servers = `${HOST}:${silent.port},${HOST}:${server.port}`;
    expect(await codes({ prefix: 'fresh', servers })).toEqual(['warning standalone', 'warning acl-world-anyone']);
    await using shy = await startProxy(server.port);
    void shy.cutBefore('srvr');
    expect(await codes({ servers: `${HOST}:${shy.port}` })).toContain('info version-unknown');
  });

  test('check tells of one server alone, of open nodes, and of session timeouts that are not as wished', async () => {
    const open = ['warning standalone', 'warning acl-world-anyone'];
    expect(await codes({ prefix: 'fresh' })).toEqual(open);
    expect(await codes({ prefix: 'fresh', sessionTimeout: 1_000 })).toContain('warning session-timeout');
    expect(await codes({ prefix: 'fresh', sessionTimeout: 60_000 })).toContain('info session-timeout');
    expect(await codes({ prefix: 'fresh', auth: ALICE })).toEqual(['warning standalone']);
  });

  test.skipIf(missing('certificates'))('TLS: the certificate is verified, and locks work through it', async () => {
    using authority = startAuthority();
    const { key, cert } = authority.issue('DNS:localhost');
    const ca = readFileSync(authority.ca);
    // What a server's secureClientPort is to its clients: TLS around the same protocol.
    await using front = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
      const behind = connect(server.port, HOST);
      socket.pipe(behind).pipe(socket);
      for (const end of [socket, behind])
        end.on('error', () => {}).on('close', () => socket.destroy(behind.destroy().errored ?? undefined));
    });
    front.on('tlsClientError', () => {});
    front.listen(0, HOST);
    await once(front, 'listening');
    const { port } = front.address() as { port: number };
    {
      await using locks = client({ servers: `localhost:${port}`, tls: { ca } });
      await (await locks.mutex('tls').acquire({ wait: 5_000 })).release();
    }
    for (const [servers, tls] of [
      [`localhost:${port}`, true],
      [`${HOST}:${port}`, { ca }],
    ] as const) {
      await using locks = client({ servers, tls });
      await expect(locks.mutex('tls').acquire({ wait: 2_000 })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    }
  });
});
