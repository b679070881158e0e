import 'reflect-metadata';
import { once } from 'node:events';
import { Injectable } from '@nestjs/common';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../../src/connect/index.ts';
import { currentLease, Locked, useLocks } from '../../../src/decorator/index.ts';
import type { Locks, Term } from '../../../src/index.ts';
import { LocksModule } from '../../../src/nestjs/index.ts';
import { Desk } from '../../cli/shell.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { started } from '../../nestjs/application.ts';
import { sharedFleet } from '../redis/shared-fleet.ts';

@Injectable()
class Orders {
  @Locked('order:{0}')
  async grab(_id: number): Promise<bigint> {
    return currentLease().token;
  }
}

describeOn('redisson', 'on redisson', () => {
  const at = sharedFleet();
  let url: string;
  let locks: Locks;

  beforeAll(async () => {
    url = `${at.server.url.replace('redis:', 'redis+redisson:')}?fenced=true`;
    locks = await connect(url);
  });
  afterAll(() => locks.close());

  /** As another program sees it. */
  const isTaken = async (name: string): Promise<boolean> => (await at.fleet.ioredis().exists(name)) === 1;

  test('all() holds each of its locks for Redisson, too, and none when one of them is taken', async () => {
    const [a, b] = [locks.mutex('all:a'), locks.mutex('all:b')];
    await locks
      .all([a, b])
      .run(async () => expect([await isTaken('all:a'), await isTaken('all:b')]).toEqual([true, true]));
    await at.fleet.ioredis().hset('all:b', '0f2b6c1e-5d1c-4f27-9d1b-0a4bb1a1c001:42', 1);
    expect(await locks.all([a, b]).tryAcquire()).toBeNull();
    expect(await isTaken('all:a')).toBe(false);
  });

  test('leader: one of two leads, and the other after it', async () => {
    await using other = await connect(url);
    const led: string[] = [];
    const lead = (of: Locks, who: string, signal: AbortSignal): Promise<unknown> => {
      const term = async (term: Term): Promise<void> => {
        led.push(who);
        await once(term.signal, 'abort');
      };
      return of.leader('boss', { ttl: 2_000 }).run(term, { signal });
    };
    const [one, two] = [new AbortController(), new AbortController()];
    const first = lead(locks, 'first', one.signal);
    await until('the first leads', () => led.length === 1);
    const second = lead(other, 'second', two.signal);
    expect(await isTaken('boss')).toBe(true);
    one.abort();
    await first;
    await until('the second leads', () => led.length === 2);
    two.abort();
    await second;
    expect(led).toEqual(['first', 'second']);
  });

  test('once: a tick runs in one of two instances', async () => {
    await using other = await connect(url);
    const tick = Math.floor(Date.now() / 1_000) * 1_000;
    const results = await Promise.all([locks, other].map((of) => of.once('report', tick, () => 'done')));
    expect(results.filter(({ ran }) => ran)).toHaveLength(1);
  });

  test('a decorated method runs under the lock that its arguments name', async () => {
    using _ = useLocks(locks);
    expect([await new Orders().grab(1), await new Orders().grab(1)]).toEqual([1n, 2n]);
    expect(await at.fleet.ioredis().get('redisson_lock_token:{order:1}')).toBe('2');
  });

  test('an application of Nest takes its address', async () => {
    await using nest = await started({ imports: [LocksModule.forRoot({ url })], providers: [Orders] });
    const orders = nest.app.get(Orders);
    expect([await orders.grab(2), await orders.grab(2)]).toEqual([1n, 2n]);
    expect(await at.fleet.ioredis().get('redisson_lock_token:{order:2}')).toBe('2');
  });

  test('holdfast run, ls and release know a holder that writes as Redisson does', async () => {
    using desk = new Desk();
    const taken = await desk.run('run', 'cli', '--url', url, '--', 'sh', '-c', 'echo "$HOLDFAST_TOKEN"');
    expect(taken).toMatchObject({ code: 0, stdout: '1\n' });
    await at.fleet.ioredis().hset('cli', '0f2b6c1e-5d1c-4f27-9d1b-0a4bb1a1c001:42', 1);
    expect(await desk.run('run', 'cli', '--url', url, '--wait', '0', '--', 'true')).toMatchObject({ code: 75 });
    expect((await desk.run('ls', 'cli', '--url', url)).stdout).toContain('thread 42');
    expect(await desk.run('release', '--force', 'cli', '--url', url, '--reason', 'test', '--yes')).toMatchObject({
      code: 0,
    });
    expect(await isTaken('cli')).toBe(false);
  });
});
