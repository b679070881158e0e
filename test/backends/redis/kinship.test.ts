import { expect, test } from 'vitest';
import { clocksApart } from '../../../src/backends/redis/check.ts';
import { meaning } from '../../../src/backends/redis/errors.ts';
import { fieldsOf, refuseUnsupported, whyUnsupported } from '../../../src/backends/redis/server-info.ts';
import { isLockError } from '../../../src/core/contract/errors.ts';

// As Dragonfly documents its INFO; it was not run.
const DRAGONFLY = '# Server\r\nredis_version:7.4.0\r\ndragonfly_version:df-v1.30.0\r\nredis_mode:standalone\r\n';
const REDIS = '# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n';

test('a server that only looks like Redis is refused by its name, and Redis is not', () => {
  expect(whyUnsupported(fieldsOf(DRAGONFLY))).toBe('Dragonfly df-v1.30.0');
  expect(() => refuseUnsupported([DRAGONFLY])).toThrow(
    expect.toSatisfy((error: unknown) => isLockError(error, 'LOCK_UNSUPPORTED')),
  );
  expect(() => refuseUnsupported([REDIS])).not.toThrow();
});

test('clocks are said to be apart only as far as that is certain', () => {
  const at = (ahead: number, trip = 10) => ({ least: ahead - trip, most: ahead });
  expect(clocksApart([at(0)])).toBeUndefined();
  expect(clocksApart([at(0), at(90), at(20)])).toBeUndefined();
  expect(clocksApart([at(0), at(2_000, 1_990)]), 'a slow answer proves nothing').toBeUndefined();
  expect(clocksApart([at(0), at(-5_000), at(20)])).toMatchObject({ code: 'clocks', severity: 'warning' });
});

test('a host that refuses names which a script computes is refused at once, with the switch of its console', () => {
  // As Alibaba Cloud documents it; it was not run.
  const refusal = new Error(
    'ERR bad lua script for redis cluster, all the keys that the script uses should be passed using the KEYS array',
  );
  const error = meaning(refusal, 'attempt', 'key');
  expect(isLockError(error, 'LOCK_UNAVAILABLE')).toBe(true);
  expect(`${error}`).toContain('script_check_enable');
});
