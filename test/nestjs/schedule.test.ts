import { Injectable } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { CronTime } from 'cron';
import { expect, test, vi } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type LockErrorCode, type TickRun } from '../../src/index.ts';
import { LocksModule } from '../../src/nestjs/index.ts';
import { OnceCron, type OnceCronOptions } from '../../src/nestjs/schedule/index.ts';
import { until } from '../kit/wait.ts';
import { started } from './application.ts';

const NEVER = '0 0 0 1 1 *';
const EACH_SECOND = '* * * * * *';

/** A provider with a job that notes its ticks. */
function job(
  name: string,
  expression: string,
  ticks: number[],
  work?: (run: TickRun) => Promise<void>,
  options?: OnceCronOptions,
) {
  @Injectable()
  class Job {
    @OnceCron(expression, name, options)
    async tick(run: TickRun): Promise<void> {
      ticks.push(run.tick.getTime());
      await work?.(run);
    }
  }
  return Job;
}
const schedule = () => ScheduleModule.forRoot();

test('two instances agree on the tick, and one of them runs it, at its exact time', async () => {
  const backend = memory();
  const ticks: number[] = [];
  const root = () => ({
    imports: [schedule(), LocksModule.forRoot({ backend })],
    providers: [job('a', EACH_SECOND, ticks)],
  });
  await using first = await started(root());
  await using _ = await started(root());
  await until('three ticks', () => ticks.length >= 3);
  expect(ticks.every((tick) => tick % 1_000 === 0)).toBe(true);
  expect(new Set(ticks).size).toBe(ticks.length);
  expect(first.log.lines).toEqual([]);
});

test('a time that comes while the scheduler makes the job is run, too', async () => {
  const ticks: number[] = [];
  // As when the time has passed between two looks at the clock: it calls at once, before the job is in the registry.
  const late = vi.spyOn(CronTime.prototype, 'getTimeout').mockReturnValueOnce(-1);
  await using running = await started({
    imports: [schedule(), LocksModule.forRoot({ url: 'memory:' })],
    providers: [job('a', EACH_SECOND, ticks)],
  });
  late.mockRestore();
  await until('it ran', () => ticks.length > 0);
  expect(running.log.lines).toEqual([]);
});

test('a run under way settles before the application closes its locks, and is told; no other begins', async () => {
  const notes: string[] = [];
  const work = async ({ signal }: TickRun) => {
    notes.push('began');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    await new Promise((resolve) => setTimeout(resolve, 50));
    notes.push('settled');
  };
  const locks = createLocks(memory());
  const running = await started({
    imports: [schedule(), LocksModule.forRoot({ locks })],
    providers: [job('a', EACH_SECOND, [], work, { overlap: 'skip' })],
  });
  await until('it runs', () => notes.length > 0);
  await running[Symbol.asyncDispose]();
  expect(notes).toEqual(['began', 'settled']);
  await expect(locks.mutex('b').tryAcquire()).rejects.toMatchObject({ code: 'LOCK_CLOSED' satisfies LockErrorCode });
});

test('options of the scheduler are its own, and the job has its name', async () => {
  await using running = await started({
    imports: [schedule(), LocksModule.forRoot({ url: 'memory:' })],
    providers: [job('report', NEVER, [], undefined, { timeZone: 'Asia/Tokyo', within: '5m' })],
  });
  const { cronTime } = running.app.get(SchedulerRegistry).getCronJob('report');
  expect(cronTime.timeZone).toBe('Asia/Tokyo');
});

test.each([
  ['no ScheduleModule', [], [job('a', NEVER, [])], /needs ScheduleModule.forRoot\(\)/],
  ['two jobs of one name', [schedule()], [job('a', NEVER, []), job('a', NEVER, [])], /given name \(a\) already exists/],
  ['a bad option', [schedule()], [job('a', NEVER, [], undefined, { within: 'soon' as never })], /within is "soon"/],
])('what is wrong is said when the application starts: %s', async (_title, imports, providers, message) => {
  const root = { imports: [...imports, LocksModule.forRoot({ url: 'memory:' })], providers };
  await expect(started(root)).rejects.toThrow(message);
});

test('what is wrong is said when the class is made', () => {
  expect(() => OnceCron(NEVER, '')).toThrow(/must not be empty/);
  expect(() => OnceCron(NEVER, 'a', { whitin: '5m' } as never)).toThrow(/"whitin" is not one of/);
});

test('without LocksModule the scheduler logs what is missing', async () => {
  await using running = await started({ imports: [schedule()], providers: [job('a', EACH_SECOND, [])] });
  await until('it is said', () => running.log.lines.some((line) => /without LocksModule.forRoot\(\)/.test(line)));
});
