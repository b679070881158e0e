import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EtcdOptions, etcd } from '../../../src/backends/etcd/index.ts';
import type { Backend, QueueEntry } from '../../../src/core/contract/backend.ts';
import { type Authority, startAuthority } from '../../kit/certificates.ts';
import { startEtcd } from '../../kit/etcd.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf, endpoint, etcdctl } from './etcdctl.ts';

const PASSWORD = 'correct horse';

async function standings(backend: Backend): Promise<QueueEntry[]> {
  const seen: QueueEntry[] = [];
  for await (const standing of backend.inspect!('')) seen.push(standing);
  return seen;
}

describeOn('etcd', 'etcd with authentication', () => {
  let server: Server;
  const open: Backend[] = [];
  const connect = (options: Partial<EtcdOptions> = {}): Backend => {
    const backend = etcd({ endpoints: endpoint(server), user: 'locks', password: PASSWORD, ...options });
    open.push(backend);
    return backend;
  };

  beforeAll(async () => {
    server = await startEtcd({ 'auth-token-ttl': '1' });
    const commands = [
      ['user', 'add', 'root:root'],
      ['user', 'grant-role', 'root', 'root'],
      ['role', 'add', 'locker'],
      ['role', 'grant-permission', 'locker', '--prefix=true', 'readwrite', 'holdfast/'],
      ['user', 'add', `locks:${PASSWORD}`],
      ['user', 'grant-role', 'locks', 'locker'],
      ['auth', 'enable'],
    ];
    for (const command of commands) await etcdctl([server], ...command);
  });
  afterAll(async () => {
    for (const backend of open) await backend.close();
    await server?.[Symbol.asyncDispose]();
  });

  test('a user with rights on the prefix alone can do everything', async () => {
    const [backend, rival] = [connect(), connect()];
    const [claim, next] = [claimOf('a'), claimOf('a', { ttl: 20_000 })];
    expect(await backend.attempt(claim)).toMatchObject({ granted: true });
    expect(await rival.attempt(next)).toMatchObject({ granted: false });
    expect(await backend.renew([claim])).toEqual([{ validFor: expect.any(Number) }]);
    expect(await standings(rival)).toHaveLength(2);
    expect(await backend.release(claim)).toEqual({ freed: true });
    expect(await rival.attempt(next)).toMatchObject({ granted: true });
    expect(await rival.renew([next]), 'moved to a longer lease').toEqual([{ validFor: expect.any(Number) }]);
    const [{ token }] = (await standings(rival)) as [QueueEntry];
    expect(await backend.evict!('a', token)).toBe(true);
    expect((await backend.check!()).map(({ code }) => code)).toContain('few-members');
  });

  test('tokens that ran out are renewed without anybody noticing, for calls and for watches', async () => {
    const [backend, rival] = [connect(), connect()];
    const [claim, next] = [claimOf('b'), claimOf('b')];
    await backend.attempt(claim);
    await rival.attempt(next);
    const since = performance.now();
    await until('the tokens are over', () => performance.now() - since > 3_000);
    let woken = 0;
    await using _ = await rival.watch!(next, () => {
      woken++;
    });
    expect(await rival.attempt(next)).toMatchObject({ granted: false });
    await backend.release(claim);
    await until('the waiter is woken', () => woken > 0);
    expect(await rival.attempt(next)).toMatchObject({ granted: true });
    await rival.release(next);
  });

  test('a renewal without rights any more says why it failed', async () => {
    const asRoot = (...command: string[]) => etcdctl([server], '--user', 'root:root', ...command);
    await asRoot('user', 'add', 'leaver:bye');
    await asRoot('user', 'grant-role', 'leaver', 'locker');
    const backend = connect({ user: 'leaver', password: 'bye' });
    const claim = claimOf('leaver');
    expect(await backend.attempt(claim)).toMatchObject({ granted: true });
    await asRoot('user', 'revoke-role', 'leaver', 'locker');
    await expect(backend.renew([claim])).rejects.toMatchObject({ message: expect.stringMatching(/permission denied/) });
  });

  test.each<[string, Partial<EtcdOptions>]>([
    ['a wrong password', { password: 'wrong' }],
    ['an unknown user', { user: 'nobody' }],
    ['no user', { user: undefined, password: undefined }],
    ['a prefix it has no rights on', { prefix: 'elsewhere' }],
  ])('%s is a definite refusal that says what to do, and shows no secret', async (_, options) => {
    const refusal = await connect(options)
      .attempt(claimOf('c'))
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: 'LockError', code: 'LOCK_UNAVAILABLE', backend: 'etcd' });
    expect(String(refusal)).toMatch(/password|prefix/);
    expect(String(refusal)).not.toContain(options.password ?? PASSWORD);
    expect(String(refusal)).not.toContain(String(server.port));
  });
});

describeOn(['etcd', 'certificates'], 'etcd over TLS', () => {
  let authority: Authority;
  let server: Server;
  beforeAll(async () => {
    authority = startAuthority();
    server = await startEtcd({}, authority.issue());
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    authority?.[Symbol.dispose]();
  });

  test('a server whose authority is known serves locks', async () => {
    const backend = etcd({ endpoints: endpoint(server), tls: { ca: readFileSync(authority.ca) } });
    const claim = claimOf('a');
    expect(await backend.attempt(claim)).toMatchObject({ granted: true });
    expect(await backend.release(claim)).toEqual({ freed: true });
    await backend.close();
  });

  test('any other is refused', async () => {
    const backend = etcd({ endpoints: `https://${endpoint(server)}` });
    await expect(backend.attempt(claimOf('a'))).rejects.toThrow(/no member can be reached: .*CERT|SELF_SIGNED|VERIFY/);
    await backend.close();
  });

  test('a server that asks for a certificate serves who has one, and says so to who has none', async () => {
    const { ca, cert, key } = authority.issue();
    await using strict = await startEtcd({ 'trusted-ca-file': ca }, { ca, cert, key });
    const trusted = { ca: readFileSync(ca) };
    const [known, unknown] = [{ ...trusted, cert: readFileSync(cert), key: readFileSync(key) }, trusted].map((tls) =>
      etcd({ endpoints: endpoint(strict), tls }),
    );
    const claim = claimOf('a');
    expect(await known!.attempt(claim)).toMatchObject({ granted: true });
    await expect(unknown!.attempt(claimOf('b'))).rejects.toThrow(/no member can be reached: .*CERT/);
    await Promise.all([known!.close(), unknown!.close()]);
  });
});
