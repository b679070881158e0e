import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import type { LockError } from '../../src/index.ts';
import { type Authority, type Certificate, startAuthority } from '../kit/certificates.ts';
import { startEtcd } from '../kit/etcd.ts';
import { startMariadb } from '../kit/mariadb.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startRedis, startRedisCluster, startRedisSentinel } from '../kit/redis.ts';
import type { Engine } from '../kit/selection.ts';
import { describeOn } from '../kit/suite.ts';
import { type Opened, plus } from './engines.ts';

const secure = ({ cert, key }: Certificate): Record<string, string> => ({ 'ssl-cert': cert, 'ssl-key': key });
const localhost = (url: string): string => url.replaceAll('127.0.0.1', 'localhost');

const SERVERS: readonly { name: string; engine: Engine; start(certificate: Certificate): Promise<Opened> }[] = [
  { name: 'rediss:', engine: 'redis', start: (certificate) => startRedis({}, certificate) },
  { name: 'redis+sentinel:', engine: 'redis', start: startRedisSentinel },
  { name: 'redis+cluster:', engine: 'redis', start: startRedisCluster },
  { name: 'postgres:', engine: 'postgres', start: (certificate) => startPostgres({}, certificate) },
  { name: 'etcd:', engine: 'etcd', start: (certificate) => startEtcd({}, certificate) },
  { name: 'mysql:', engine: 'mysql', start: (certificate) => startMariadb(secure(certificate)) },
];

/** Locks, and the connection on which who waits is woken. */
async function serves(url: string): Promise<void> {
  await using locks = await connect(url);
  await using others = await connect(url);
  const lease = await locks.mutex('tls').acquire({ wait: 5_000 });
  const waiting = others.mutex('tls').acquire({ wait: 5_000 });
  await lease.release();
  await (await waiting).release();
  expect((await locks.check()).filter(({ severity }) => severity === 'danger')).toEqual([]);
}

async function refused(url: string, why: RegExp): Promise<void> {
  const opened = await connect(url).catch((error: unknown) => error as LockError);
  if ('close' in opened) await opened.close();
  expect(opened).toMatchObject({ code: 'LOCK_UNAVAILABLE', message: expect.stringMatching(why) });
}

describe.each(SERVERS)('$name over TLS', ({ engine, start }) => {
  describeOn([engine, 'certificates'], 'a server of ours', () => {
    let authority: Authority;
    let server: Opened;
    beforeAll(async () => {
      authority = startAuthority();
      server = await start(authority.issue());
    });
    afterAll(async () => {
      await server?.[Symbol.asyncDispose]();
      authority?.[Symbol.dispose]();
    });

    test('with a certificate of an authority that is trusted it serves locks, and wakes who waits', async () => {
      const url = plus(localhost(server.url), `ca=${authority.ca}`);
      await serves(url);
    });

    test('of any other it is refused', async () => {
      using other = startAuthority();
      const url = plus(localhost(server.url), `ca=${other.ca}`);
      await refused(url, /unable to|self-signed|signature/i);
    });
  });

  describeOn([engine, 'certificates'], 'somebody else', () => {
    test('with a certificate of the same authority for another name it is refused', async () => {
      using authority = startAuthority();
      await using impostor = await start(authority.issue('DNS:elsewhere.example'));
      const url = plus(localhost(impostor.url), `ca=${authority.ca}`);
      await refused(url, /altname/i);
    });
  });
});

describeOn(['redis', 'certificates'], 'rediss: where the server asks for a certificate, too', () => {
  test('ours opens it, and the connection that listens', async () => {
    using authority = startAuthority();
    await using server = await startRedis({ 'tls-auth-clients': 'yes' }, authority.issue());
    const url = plus(server.url, `ca=${authority.ca}`);
    const { cert, key } = authority.issue('DNS:client');
    await serves(`${url}&cert=${cert}&key=${key}`);
    await refused(url, /could not connect/); // in TLS 1.3 the server says why only after the client is done
  });
});

describeOn(['postgres', 'certificates'], 'postgres: with an sslmode', () => {
  test('is verified, or refused: never taken as it comes', async () => {
    using authority = startAuthority();
    await using server = await startPostgres({}, authority.issue());
    const ca = `ca=${authority.ca}`;
    await using verified = await connect(plus(server.url, `sslmode=verify-full&${ca}`));
    await verified.mutex('tls').run(() => {});
    await using required = await connect(plus(server.url, `sslmode=require&${ca}`));
    await required.mutex('tls').run(() => {});
    await refused(plus(server.url, 'sslmode=require'), /unable to|self-signed/);
    await expect(connect(plus(server.url, `sslmode=prefer&${ca}`))).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  });
});

describe('mysql: by an address', () => {
  test('is refused over TLS: nobody would look whose certificate it is', async () => {
    await expect(connect('mysql://127.0.0.1/app?tls=true')).rejects.toMatchObject({
      code: 'LOCK_INVALID',
      message: expect.stringMatching(/name the host/),
    });
  });
});
