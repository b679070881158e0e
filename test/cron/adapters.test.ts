import { Cron } from 'croner';
import cron, { type RunCoordinator } from 'node-cron';
import { afterEach, describe, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { connect } from '../../src/connect/index.ts';
import { cronerTask, nodeCronCoordinator } from '../../src/cron/index.ts';
import { createLocks, type TickRun } from '../../src/index.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { settleWithin, until } from '../kit/wait.ts';

const EACH_SECOND = '* * * * * *';
const now = (): string => new Date().toISOString();

describe('the coordinator of node-cron', () => {
  afterEach(() => {
    for (const task of cron.getTasks().values()) void task.destroy();
    cron.setRunCoordinator(undefined);
  });

  test('is one, by its own types, and its task runs', async () => {
    await using locks = createLocks(memory());
    const { promise, resolve } = Promise.withResolvers<void>();
    const runCoordinator: RunCoordinator = nodeCronCoordinator(locks);
    cron.schedule(EACH_SECOND, () => resolve(), { name: 'a', distributed: true, runCoordinator });
    await settleWithin('it runs', promise);
  });

  test('lets one run a tick; with overlap skip no other tick runs until that is complete', async () => {
    const backend = memory();
    await using locks = createLocks(backend);
    await using others = createLocks(backend);
    const mine = nodeCronCoordinator(locks, { overlap: 'skip' });
    const theirs = nodeCronCoordinator(others, { overlap: 'skip' });
    const first = `job:a:${now()}`;
    expect(await mine.shouldRun(first, 30_000)).toBe(true);
    expect(await theirs.shouldRun(first, 30_000)).toBe(false);
    const second = `job:a:${new Date(Date.now() + 1).toISOString()}`;
    expect(await theirs.shouldRun(second, 30_000)).toBe(false);
    await mine.onComplete(first);
    const third = `job:a:${new Date(Date.now() + 2).toISOString()}`;
    expect(await theirs.shouldRun(third, 30_000)).toBe(true);
    await theirs.onComplete(first); // not its own
    expect(await mine.shouldRun(`job:a:${new Date(Date.now() + 3).toISOString()}`, 30_000)).toBe(false);
    await theirs.onComplete(third);
  });

  test('a run ends when it is complete, also if a second task of its name has asked for it in the same process', async () => {
    await using locks = createLocks(memory());
    const coordinator = nodeCronCoordinator(locks, { overlap: 'skip' });
    const first = `a:${now()}`;
    expect(await coordinator.shouldRun(first, 30_000)).toBe(true);
    expect(await coordinator.shouldRun(first, 30_000), 'of the second task').toBe(false);
    await coordinator.onComplete(first);
    const next = `a:${new Date(Date.now() + 1).toISOString()}`;
    expect(await coordinator.shouldRun(next, 30_000), 'the run before is over').toBe(true);
    await coordinator.onComplete(next);
  });

  test('a run that is never said to be complete is over after the lease of its task', async () => {
    await using locks = createLocks(memory());
    const coordinator = nodeCronCoordinator(locks, { overlap: 'queue' });
    expect(await coordinator.shouldRun(`a:${now()}`, 50)).toBe(true);
    const next = `a:${new Date(Date.now() + 1).toISOString()}`;
    expect(await coordinator.shouldRun(next, 30_000)).toBe(true);
    await coordinator.onComplete(next);
  });

  test('what is wrong is said at once', async () => {
    expect(() => nodeCronCoordinator({} as never)).toThrow(/needs Locks/);
    await using locks = createLocks(memory());
    expect(() => nodeCronCoordinator(locks, { retries: 1 } as never)).toThrow(/"retries" is not one of/);
    await expect(nodeCronCoordinator(locks).shouldRun('nonsense', 1)).rejects.toThrow(/is no key of node-cron/);
  });
});

describeOn('redis', 'an engine that is gone', () => {
  test('makes node-cron skip, and a task of croner tell it without a rejection', async () => {
    const server = await startRedis();
    await using locks = await connect(server.url);
    await server[Symbol.asyncDispose]();
    const told = Promise.withResolvers<unknown>();
    const job = new Cron(
      EACH_SECOND,
      { maxRuns: 1 },
      cronerTask(locks, 'a', () => {}, { within: '1s', skew: 0, onError: told.resolve }),
    );
    await expect(
      nodeCronCoordinator(locks, { within: '1s', skew: 0 }).shouldRun(`a:${now()}`, 1_000),
    ).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
    });
    expect(await settleWithin('it is told', told.promise, 20_000)).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    job.stop();
  });
});

describe('a task of croner', () => {
  test('gets the run, the job and its context; what it throws goes to croner', async () => {
    await using locks = createLocks(memory());
    const { promise, resolve } = Promise.withResolvers<unknown[]>();
    const failed = Promise.withResolvers<unknown>();
    const job = new Cron(
      EACH_SECOND,
      { context: { city: 'Lima' }, maxRuns: 1, catch: failed.resolve },
      cronerTask(locks, 'a', (run: TickRun, itself: Cron<{ city: string }>, context: { city: string }) => {
        resolve([run.tick.getMilliseconds(), itself, context.city]);
        throw new Error('mine');
      }),
    );
    expect(await settleWithin('it runs', promise)).toEqual([0, job, 'Lima']);
    expect(await settleWithin('it fails', failed.promise)).toMatchObject({ message: 'mine' });
  });

  test('at a date runs at that date; with an interval it is refused, since instances would disagree', async () => {
    await using locks = createLocks(memory());
    const date = new Date(Date.now() + 100);
    const ran = Promise.withResolvers<Date>();
    new Cron(
      date,
      cronerTask(locks, 'a', (run) => ran.resolve(run.tick)),
    );
    expect((await settleWithin('it runs', ran.promise)).getTime()).toBe(date.getTime());
    const told = Promise.withResolvers<unknown>();
    const job = new Cron(
      EACH_SECOND,
      { interval: 2 },
      cronerTask(locks, 'b', () => {}, { onError: told.resolve }),
    );
    expect(await settleWithin('it is told', told.promise)).toMatchObject({
      code: 'LOCK_INVALID',
      message: expect.stringMatching(/interval counts from its own start/),
    });
    job.stop();
  });

  test('that is called late takes the last time of its pattern', async () => {
    await using locks = createLocks(memory());
    const ran = Promise.withResolvers<Date>();
    const job = new Cron(
      '*/20 * * * * *',
      { paused: true },
      cronerTask(locks, 'a', (run) => ran.resolve(run.tick)),
    );
    await job.trigger();
    job.stop();
    const tick = await settleWithin('it runs', ran.promise);
    expect([tick.getSeconds() % 20, tick.getMilliseconds()]).toEqual([0, 0]);
    expect(Date.now() - tick.getTime()).toBeLessThan(20_000 + 5_000);
    await until('it is in the past', () => tick.getTime() <= Date.now());
  });
});
