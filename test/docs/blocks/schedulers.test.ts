/** Blocks of cron libraries. What is due at night is due each second here. */
import cron from 'node-cron';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { memory } from '../../../src/backends/memory.ts';
import type { Locks } from '../../../src/index.ts';
import { until } from '../../kit/wait.ts';
import { found, together } from '../block.ts';
import { closeAll, createLocks } from '../tracked.ts';

let instances: Locks[];
let ticks: number[];
const report = (tick: Date): void => void ticks.push(Math.floor(Number(tick ?? Date.now()) / 1_000));
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
const givens = () => instances.map((locks) => ({ locks, report }));

async function expectOnePerTick(): Promise<void> {
  await until('two ticks are run', () => ticks.length >= 2);
  expect(new Set(ticks).size).toBe(ticks.length);
}

test('node-cron: the coordinator lets one of two tasks run each tick', async () => {
  await together(found('docs/guides/cron-libraries.md', 'node-cron'), givens(), EACH_SECOND);
  await expectOnePerTick();
});

test('node-cron: a task of two instances is run once per tick', async () => {
  await together(found('docs/guides/cron-libraries.md', 'node-cron', 2), givens(), EACH_SECOND);
  await expectOnePerTick();
});

test('croner: a task of two instances is run once per tick', async () => {
  const jobs = await together(found('docs/guides/cron-libraries.md', 'croner'), givens(), {
    ...EACH_SECOND,
    'new Cron(': 'const job = new Cron(',
  });
  await expectOnePerTick();
  for (const job of jobs) if (job.status === 'fulfilled') job.value.job.stop();
});
