import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { etcd } from '../../../src/backends/etcd/index.ts';
import { createLocks } from '../../../src/index.ts';
import { startEtcd } from '../../kit/etcd.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { claimOf, endpoint, etcdctl } from './etcdctl.ts';

const QUOTA = 1_000_000;

/** Writes until the server refuses. */
async function fill(server: Server): Promise<void> {
  const put = async (): Promise<never> => {
    for (let number = 0; ; number++) await etcdctl([server], 'put', `ballast ${number}`, 'x'.repeat(QUOTA / 20));
  };
  await expect(put()).rejects.toThrow('space exceeded');
}

describeOn('etcd', 'a database that is full', () => {
  test('is told by check; what is held is renewed and released, what is not is refused', async () => {
    await using server = await startEtcd({ 'quota-backend-bytes': `${QUOTA}` });
    const backend = etcd({ endpoints: endpoint(server) });
    const hold = claimOf('held');
    await backend.attempt(hold);
    await fill(server);
    const codes = (await backend.check!()).map(({ code }) => code);
    const refused = await backend.attempt(claimOf('other')).catch((error) => error);
    const renewals = await backend.renew([hold]);
    const released = await backend.release(hold);
    await backend.close();
    expect(codes).toContain('no-space');
    expect(refused).toMatchObject({ code: 'LOCK_UNAVAILABLE', message: expect.stringContaining('defragment') });
    expect(renewals).toEqual([{ validFor: expect.any(Number) }]);
    expect(released).toEqual({ freed: true });
  });

  test('loses no hold: one whose lease would be another keeps the lease that it has', async () => {
    await using server = await startEtcd({ 'quota-backend-bytes': `${QUOTA}` });
    const locks = createLocks(etcd({ endpoints: endpoint(server) }));
    const lost: unknown[] = [];
    const take = async (key: string) => {
      // Longer than a busy disk lets the server wait.
      const lease = await locks.mutex(key).acquire({ ttl: '6s' });
      lease.signal.addEventListener('abort', () => lost.push(lease.signal.reason));
      return lease;
    };
    const waited = await take('waited for');
    const extended = await take('extended');
    await fill(server);
    const [refused] = await Promise.allSettled([extended.extend('1m'), sleep(9_000)]);
    expect(lost).toEqual([]);
    expect([waited.held, extended.held], 'held after one and a half leases').toEqual([true, true]);
    expect(refused, 'a lease longer than the server can make').toMatchObject({
      status: 'rejected',
      reason: { code: 'LOCK_UNAVAILABLE', message: expect.stringContaining('defragment') },
    });
    expect([await waited.release(), await extended.release()], 'freed').toEqual([true, true]);
    await locks.close();
  });
});
