import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EtcdOptions, etcd } from '../../../src/backends/etcd/index.ts';
import type { Backend, Standing } from '../../../src/core/backend.ts';
import { startEtcd } from '../../kit/etcd.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { freePort, HOST } from '../../kit/net.ts';
import { find, program } from '../../kit/programs.ts';
import { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf, endpoint, etcdctl } from './etcdctl.ts';

const PASSWORD = 'correct horse';

async function standings(backend: Backend): Promise<Standing[]> {
  const seen: Standing[] = [];
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
    const [{ ticket }] = (await standings(rival)) as [Standing];
    expect(await backend.evict!('a', ticket)).toBe(true);
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
    await until('the waiter is woken', () => woken > 0, 1_500);
    expect(await rival.attempt(next)).toMatchObject({ granted: true });
    await rival.release(next);
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

describeOn('etcd', 'etcd over TLS', () => {
  const folder = temporaryFolder();
  let server: Server;
  const openssl = (...args: string[]): Promise<unknown> =>
    promisify(execFile)(find('openssl') ?? 'openssl', args, { cwd: folder.path });
  const file = (name: string): string => join(folder.path, name);

  beforeAll(async () => {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    await openssl('req', '-x509', ...key, '-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.pem');
    await openssl('req', ...key.slice(0, -2), '-subj', '/CN=etcd', '-keyout', 'etcd.key', '-out', 'etcd.csr');
    writeFileSync(file('names'), `subjectAltName=IP:${HOST}`);
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
    await openssl('x509', '-req', '-in', 'etcd.csr', ...signed, '-out', 'etcd.pem');
    const [port, peer] = [await freePort(), await freePort()];
    const url = `https://${HOST}:${port}`;
    server = await Server.start({
      name: 'etcd',
      port,
      url,
      command: program('etcd', 'etcd'),
      args: (data) => [
        ...['--data-dir', data, '--log-level', 'error', '--listen-client-urls', url, '--advertise-client-urls', url],
        ...['--listen-peer-urls', `http://${HOST}:${peer}`, '--initial-advertise-peer-urls', `http://${HOST}:${peer}`],
        ...['--initial-cluster', `default=http://${HOST}:${peer}`],
        ...['--cert-file', file('etcd.pem'), '--key-file', file('etcd.key')],
      ],
      ready: async () => (await etcdctl([], '--endpoints', url, '--cacert', file('ca.pem'), 'get', 'a')) === '',
    });
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  test('a server whose authority is known serves locks', async () => {
    const backend = etcd({ endpoints: endpoint(server), tls: { ca: readFileSync(file('ca.pem')) } });
    const claim = claimOf('a');
    expect(await backend.attempt(claim)).toMatchObject({ granted: true });
    expect(await backend.release(claim)).toEqual({ freed: true });
    await backend.close();
  });

  test('any other is refused', async () => {
    const backend = etcd({ endpoints: server.url });
    await expect(backend.attempt(claimOf('a'))).rejects.toThrow(/no member can be reached: .*CERT|SELF_SIGNED|VERIFY/);
    await backend.close();
  });
});
