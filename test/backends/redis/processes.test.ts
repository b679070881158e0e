import { expect, test } from 'vitest';
import { startWorker, type WorkerProcess } from '../../kit/processes.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { LIBRARIES, type Library } from './fleet.ts';
import type { Calls } from './processes.worker.ts';
import { sharedFleet } from './shared-fleet.ts';

const WORKER = new URL('./processes.worker.ts', import.meta.url);
/** Below core's poll of 2 s: whoever is served in this was told, and did not just ask. */
const TOLD = 1_500;

describeOn('redis', 'redis among processes', () => {
  const here = sharedFleet();

  const start = (library: Library): Promise<WorkerProcess<Calls>> =>
    startWorker(WORKER, { env: { REDIS_PORT: `${here.server.port}`, LIBRARY: library } });

  /** Resolves when so many stand in line. */
  const inLine = (key: string, count: number): Promise<void> =>
    until(
      `${count} stand in line`,
      async () => (await here.fleet.ioredis().hlen(`holdfast:{${key}}:claims`)) === count,
    );

  test('four processes, two of each library: nobody enters twice at a time, and every token is higher', async () => {
    await using stack = new AsyncDisposableStack();
    const workers: WorkerProcess<Calls>[] = [];
    for (const library of [...LIBRARIES, ...LIBRARIES]) workers.push(stack.use(await start(library)));
    await Promise.all(workers.map((worker) => worker.call('count', 'shared', 50)));
    const client = here.fleet.ioredis();
    expect(await client.get('count:shared'), 'every increment counts').toBe('200');
    const tokens = (await client.lrange('tokens:shared', 0, -1)).map(BigInt);
    expect(tokens.every((token, i) => i === 0 || token > tokens[i - 1]!)).toBe(true);
  });

  test('a killed holder is replaced when its lease is over', async () => {
    await using dying = await start('ioredis');
    await using next = await start('node-redis');
    const token = await dying.call('acquire', 'killed', 1_000);
    const waiting = next.call('acquire', 'killed', 10_000);
    await inLine('killed', 2);
    await dying.kill();
    expect(await settleWithin('the next one holds', waiting, 1_000 + TOLD)).toBeGreaterThan(token);
  });

  test('a killed waiter is passed over at the release', async () => {
    await using holder = await start('ioredis');
    await using dying = await start('node-redis');
    await using next = await start('ioredis');
    await holder.call('acquire', 'killed-waiter', 30_000);
    dying.call('acquire', 'killed-waiter', 30_000).catch(() => {});
    await inLine('killed-waiter', 2);
    const waiting = next.call('acquire', 'killed-waiter', 30_000);
    await inLine('killed-waiter', 3);
    await dying.kill();
    await until(
      'its connections are gone',
      async () => !(await here.fleet.ioredis().pubsub('CHANNELS', 'holdfast:wake:*'))[2],
    );
    await holder.call('release', 'killed-waiter');
    await settleWithin('the next one is told', waiting, TOLD);
  });

  test('a holder that was stopped past its lease finds it lost, and frees nothing of the next', async () => {
    await using stopped = await start('ioredis');
    await using next = await start('node-redis');
    const token = await stopped.call('acquire', 'stopped', 600);
    const waiting = next.call('acquire', 'stopped', 30_000);
    await inLine('stopped', 2);
    stopped.pause();
    expect(await settleWithin('the next one holds', waiting, 600 + TOLD)).toBeGreaterThan(token);
    stopped.resume();
    expect(await stopped.call('held', 'stopped')).toBe(false);
    expect(await stopped.call('release', 'stopped')).toBe(false);
    expect(await next.call('held', 'stopped')).toBe(true);
    expect(await next.call('release', 'stopped')).toBe(true);
  });

  test('a connection that is cut again and again stops nobody for good', async () => {
    await using one = await start('ioredis');
    await using two = await start('node-redis');
    const done = Promise.all([one.call('count', 'cut', 40), two.call('count', 'cut', 40)]);
    let over = false;
    void done.then(
      () => (over = true),
      () => (over = true),
    );
    const client = here.fleet.ioredis();
    while (!over) {
      await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await done;
    expect(await client.get('count:cut')).toBe('80');
  });
});
