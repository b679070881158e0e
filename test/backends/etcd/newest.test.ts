import { delimiter, dirname } from 'node:path';
import { expect, test } from 'vitest';
import { etcd } from '../../../src/backends/etcd/index.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { startEtcd } from '../../kit/etcd.ts';
import { cachedProgram } from '../../kit/server-cache.ts';
import { describeOn } from '../../kit/suite.ts';

// Debian's etcd is older. What the newest one answers in another way is seen here, where `npm run prove -- matrix --fetch etcd` has run.
describeOn('etcd', 'the newest etcd that was fetched', () => {
  test('renewals see under which lease a key is', async (context) => {
    const newest = cachedProgram('etcd', 'etcd');
    if (!newest) return context.skip('none was fetched');
    const before = process.env.PATH;
    process.env.PATH = `${dirname(newest)}${delimiter}${before}`;
    await using server = await startEtcd().finally(() => {
      process.env.PATH = before;
    });
    const backend = etcd({ endpoints: `127.0.0.1:${server.port}` });
    const claim: Claim = {
      ...{
        key: 'a',
        id: systemClock.id(),
        ...EXCLUSIVE,
        ttl: 5_000,
        queue: true,
        tokenCount: 1,
        within: 5_000,
        label: '',
      },
    };
    try {
      expect(await backend.attempt(claim)).toMatchObject({ granted: true });
      expect(await backend.renew([claim])).toEqual([{ validFor: expect.any(Number) }]);
    } finally {
      await backend.close();
    }
  });
});
