import { expect, test } from 'vitest';
import type { RedisClient } from '../../../src/backends/redis/index.ts';
import { redis } from '../../../src/backends/redis/index.ts';
import * as generated from '../../../src/backends/redis/scripts.generated.ts';
import { isLockError } from '../../../src/core/contract/errors.ts';
import { describeOn } from '../../kit/suite.ts';
import { sharedFleet } from './shared-fleet.ts';

test.each([
  undefined,
  null,
  'redis://localhost',
  {},
  { evalsha: 1 },
  new Map(),
])('what is not a client is refused before anything is sent: %s', (client) => {
  expect(() => redis(client as unknown as RedisClient)).toThrow(
    expect.toSatisfy((error: unknown) => isLockError(error, 'LOCK_INVALID')),
  );
});

describeOn('redis', 'scripts on the server', () => {
  const here = sharedFleet();

  test.each(Object.values(generated))('the server compiles $name and gives it the same hash', async ({
    text,
    sha1,
  }) => {
    expect(await here.fleet.ioredis().script('LOAD', text)).toBe(sha1);
  });
});
