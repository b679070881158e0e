import { expect, test } from 'vitest';
import { clocksApart } from '../../../src/backends/redis/check.ts';
import { meaning } from '../../../src/backends/redis/errors.ts';
import type { Port } from '../../../src/backends/redis/port.ts';
import { Shards } from '../../../src/backends/redis/server.ts';
import { fieldsOf, refuseUnsupported, whyUnsupported } from '../../../src/backends/redis/server-info.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
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

/** A proxy that spreads names over servers, and first answers with a refusal. `asked` counts the questions which server it is. */
function spreading(refusal: string) {
  let asked = 0;
  let refuses = true;
  const answer = async (text: string): Promise<unknown> => {
    if (refuses) throw new Error(refusal);
    return text;
  };
  const port: Partial<Port> = {
    ...{ ended: false, keyPrefix: '', cluster: false },
    eval: (_, [key]) => answer(`run_id:${++asked}${key}`),
    evalSha: () => answer('a script ran'),
  };
  const servers = new Shards(port as Port, { prefix: 'holdfast', clock: systemClock, remember: 1_000 });
  const learns = async (): Promise<string> => servers.learnTime('k').then(String, String);
  return {
    learns,
    accepts() {
      refuses = false;
    },
    asked: () => asked,
  };
}

test.each([
  'NOAUTH Authentication required.',
  'WRONGPASS invalid username-password pair or user is disabled.',
  'OOM command not allowed when used memory > maxmemory.',
  'connection lost',
])('a server that refuses to say which one it is (%s) is asked again: a proxy that spreads names is found out', async (refusal) => {
  const server = spreading(refusal);
  expect(await server.learns(), 'before the owner of the client has mended it').toContain(refusal);
  server.accepts();
  expect(await server.learns(), 'a proxy went unnoticed').toContain('several servers');
});

test('a server that the user may not ask which one it is, is asked once', async () => {
  const server = spreading("NOPERM User app has no permissions to run the 'eval' command");
  for (let times = 0; times < 2; times++) expect(await server.learns()).toContain('NOPERM');
  expect(server.asked(), 'the names of one question').toBe(16);
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
