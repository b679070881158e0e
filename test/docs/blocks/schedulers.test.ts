/** Blocks of cron libraries. What is due at night is due each second here. */
import cron from 'node-cron';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { memory } from '../../../src/backends/memory.ts';
import type { Locks } from '../../../src/index.ts';
import { until } from '../../kit/wait.ts';
import { type Found, found, together } from '../block.ts';
import { closeAll, createLocks } from '../tracked.ts';

let instances: Locks[];
let ticks: number[];
/** It gets the tick, or what has it. */
const report = (of?: Date | { readonly for: Date } | { readonly tick: Date }): void => {
  const tick = of && 'for' in of ? of.for : of && 'tick' in of ? of.tick : of;
  ticks.push(Math.floor(Number(tick ?? Date.now()) / 1_000));
};
beforeEach(() => {
  const engine = memory();
  instances = [createLocks(engine), createLocks(engine)];
  ticks = [];
});
afterEach(async () => {
  for (const task of cron.getTasks().values()) await task.destroy();
  cron.setRunCoordinator(undefined);
  await closeAll();
});

const EACH_SECOND = { "'0 3 * * *'": "'* * * * * *'" };
const warned: unknown[] = [];
const log = { warn: (error: unknown): void => void warned.push(error) };
const givens = () => instances.map((locks) => ({ locks, report, log }));

async function expectOnePerTick(): Promise<void> {
  await until('two ticks are run', () => ticks.length >= 2);
  expect(new Set(ticks).size).toBe(ticks.length);
}

test('node-cron: the coordinator lets one of two tasks run each tick', async () => {
  await together(found('docs/guides/schedules.md', 'node-cron'), givens(), EACH_SECOND);
  await expectOnePerTick();
});

test('node-cron: a task of two instances is run once per tick', async () => {
  await together(found('docs/guides/schedules.md', 'node-cron', 2), givens(), EACH_SECOND);
  await expectOnePerTick();
});

const CRONER = [
  ['docs/guides/schedules.md, croner', found('docs/guides/schedules.md', 'croner'), '0 3 * * *'],
  ['docs/guides/schedules.md', found('docs/guides/schedules.md', 'Schedules: once per tick'), '0 3 * * *'],
] as const;

async function ofCroner(block: Found, pattern: string, given: Parameters<typeof together>[1]): Promise<Disposable> {
  const jobs = await together(block, given, {
    [`'${pattern}'`]: "'* * * * * *'",
    'new Cron(': 'const job = new Cron(',
  });
  const stop = (): void => {
    for (const job of jobs) if (job.status === 'fulfilled') job.value.job.stop();
  };
  return { [Symbol.dispose]: stop };
}

test.each(
  CRONER,
)('croner: a task of two instances is run once per tick, as %s has it', async (_page, block, pattern) => {
  using _ = await ofCroner(block, pattern, givens());
  await expectOnePerTick();
});

test.each(CRONER)('croner: a job that fails, as %s has it, does not end the process', async (_page, block, pattern) => {
  const unhandled: unknown[] = [];
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (error) => unhandled.push(error));
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection');
    for (const other of others) process.on('unhandledRejection', other);
  });
  warned.length = 0;
  const failing = givens().map((given) => ({
    ...given,
    report() {
      throw new Error('no report today');
    },
  }));
  using _ = await ofCroner(block, pattern, failing);
  await until('the job has failed, and somebody was told', () => warned.length + unhandled.length >= 1);
  expect(unhandled, 'rejections that nobody handles').toEqual([]);
});
