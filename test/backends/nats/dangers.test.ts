import { Kvm } from '@nats-io/kv';
import { connect as open } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { nats } from '../../../src/backends/nats/index.ts';
import { connect } from '../../../src/connect/index.ts';
import { createLocks } from '../../../src/index.ts';
import { startNats } from '../../kit/nats.ts';
import { describeOn } from '../../kit/suite.ts';

describeOn('nats', 'NATS', () => {
  test('check calls one replica and lazy flushing dangers, and a bucket in memory', async () => {
    await using server = await startNats();
    const connection = await open({ servers: `127.0.0.1:${server.port}` });
    const kvm = new Kvm(connection);
    const codes = async (...made: Parameters<typeof nats>): Promise<string[]> =>
      ((await nats(...made).check!()) ?? []).map(({ severity, code }) => `${severity}: ${code}`);
    const bucket = await kvm.create('locks');
    expect(await codes(bucket)).toEqual(['danger: one-replica', 'danger: sync-interval']);
    expect(await codes(bucket, { synced: true })).toEqual(['danger: one-replica']);
    const forgetful = await kvm.create('forgetful', { ttl: 60_000, maxValueSize: 8_192 });
    expect(await codes(forgetful, { synced: true })).toEqual([
      'danger: one-replica',
      'danger: bucket-ttl',
      'warning: small-values',
    ]);
    const mirror = await kvm.create('mirror', { mirror: { name: 'KV_locks' } } as never);
    // Whether it can be written goes by domains, which one server has not.
    const written = Object.assign(Object.create(bucket), { status: () => mirror.status() });
    expect(await codes(written, { synced: true })).toEqual(['danger: one-replica', 'danger: mirror']);
    const inMemory = await kvm.create('memory', { storage: 'memory' });
    expect(await codes(inMemory, { synced: true })).toEqual(['danger: one-replica', 'danger: memory-storage']);
    await connection.close();
  });

  test('a lease that the ttl of the bucket would end is refused, also as an extension; a shorter one is held', async () => {
    await using server = await startNats();
    const connection = await open({ servers: `127.0.0.1:${server.port}` });
    const bucket = await new Kvm(connection).create('locks', { ttl: 8_000 });
    await using locks = createLocks(nats(bucket));
    const refusal = { code: 'LOCK_UNSUPPORTED', message: expect.stringContaining('nobody has written for 8000 ms') };
    await expect(locks.mutex('long', { ttl: '8s' }).acquire({ wait: 0 })).rejects.toMatchObject(refusal);
    expect(await bucket.get('holdfast/l/long'), 'what the refused one left').toBeNull();
    await using lease = await locks.mutex('short', { ttl: 2_000 }).acquire();
    await expect(lease.extend('1m')).rejects.toMatchObject(refusal);
    await new Promise((resolve) => setTimeout(resolve, 2_500)); // it is renewed meanwhile, as before
    expect(lease.held).toBe(true);
    await lease.release();
    await connection.close();
  });

  test('an entry that somebody else wrote stays as it is; a lease shorter than what can be observed is LOCK_INVALID', async () => {
    await using server = await startNats();
    const connection = await open({ servers: `127.0.0.1:${server.port}` });
    const bucket = await new Kvm(connection).create('locks');
    await bucket.put('holdfast/l/theirs', 'theirs');
    await using locks = createLocks(nats(bucket));
    await expect(locks.mutex('theirs').acquire({ wait: 0 })).rejects.toMatchObject({ code: 'LOCK_INVALID' });
    expect((await bucket.get('holdfast/l/theirs'))?.string()).toBe('theirs');
    expect(() => locks.mutex('k', { ttl: 50 })).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
    await connection.close();
  });

  test('a user without rights gets LOCK_UNAVAILABLE, and the server says what is missing', async () => {
    await using server = await startNats(
      'authorization { users: [ { user: all, password: all }, { user: few, password: few, permissions: { publish: "other", subscribe: "_INBOX.>" } } ] }',
    );
    const port = server.port;
    const maker = await open({ servers: `127.0.0.1:${port}`, user: 'all', pass: 'all' });
    await new Kvm(maker).create('locks');
    const connection = await open({ servers: `127.0.0.1:${port}`, user: 'few', pass: 'few', timeout: 500 });
    const bucket = await new Kvm(connection).open('locks', { bindOnly: true });
    await using locks = createLocks(nats(bucket));
    await expect(locks.mutex('k').acquire({ wait: 100 })).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(/permission/i),
    });
    await connection.close();
    await maker.close();
  });

  test('connect makes the bucket, and opens one that is there as it is', async () => {
    await using server = await startNats();
    for (let time = 0; time < 2; time++) {
      await using locks = await connect(`${server.url}?synced=true`);
      expect(await locks.mutex('by-url').run(({ held }) => held)).toBe(true);
    }
    await expect(connect(`${server.url}?replicas=9`)).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  });
});
