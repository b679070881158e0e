import { expect, test } from 'vitest';
import { etcd } from '../../../src/backends/etcd/index.ts';
import { startEtcd } from '../../kit/etcd.ts';
import { describeOn } from '../../kit/suite.ts';
import { claimOf, endpoint, etcdctl } from './etcdctl.ts';

const QUOTA = 1_000_000;

describeOn('etcd', 'a database that is full', () => {
  test('is told by check; what is held is renewed and released, what is not is refused', async () => {
    await using server = await startEtcd({ 'quota-backend-bytes': `${QUOTA}` });
    const backend = etcd({ endpoints: endpoint(server) });
    const hold = claimOf('held');
    await backend.attempt(hold);
    const fill = async (): Promise<never> => {
      for (let number = 0; ; number++) await etcdctl([server], 'put', `ballast ${number}`, 'x'.repeat(QUOTA / 20));
    };
    await expect(fill()).rejects.toThrow('space exceeded');
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
});
