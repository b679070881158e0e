import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import { askRedis, startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';

const KEYS = 5_000;
/** In all: ten seconds, of which the server tells after the first. µs for each key. */
const SLOW = 2_000;

describeOn('redis', 'a server that reads its data at its start', () => {
  test('is asked again within a second or two, however long it said that it needs', async () => {
    await using server = await startRedis({
      'key-load-delay': `${SLOW}`,
      'loading-process-events-interval-bytes': '1024',
    });
    await using locks = await connect(server.url, { wait: '20s' });
    await locks.mutex('before').run(() => {});
    await askRedis(server.port, `EVAL "for i=1,${KEYS} do redis.call('SET',i,i) end" 0`);
    expect(await askRedis(server.port, 'SAVE')).toContain('OK');
    await server.restart({ ready: false });
    const left = async (): Promise<number> =>
      Number(/loading_eta_seconds:(\d+)/.exec(await askRedis(server.port, 'INFO persistence'))?.[1]);
    await until('it says how long it needs', async () => (await left()) >= 5);
    await sleep(1_500); // the client asks at the first moment, and a second later
    expect(await left(), 'still reading').toBeGreaterThanOrEqual(5);
    await askRedis(server.port, 'CONFIG SET key-load-delay 0');
    const began = performance.now();
    await locks.mutex('after').run(() => {});
    expect(performance.now() - began).toBeLessThan(4_000);
  });
});
