/** The examples of doc comments, run, but for those that need a server, a framework or a test runner. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createStock, memoryStock } from '../../products/stock/index.ts';
import { allExamples } from '../../site/reference/examples.ts';
import { subpaths } from '../../site/reference/subpaths.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Locks } from '../../src/index.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { settleWithin } from '../kit/wait.ts';
import { moduleOf } from './block.ts';
import { closeAll, createLocks } from './tracked.ts';

afterEach(closeAll);

/** What only a server, a framework or a runner can give. */
const NOT_HERE =
  /\b(?:client|connection|store|table|pool|query|inTransaction|test|subject|ioredis|node-cron|croner)\b|'(?:pg|mysql2|mongodb|@nestjs)\b|'holdfast\/(?:etcd|zookeeper|nestjs)|etcdFence/;

const all = allExamples(subpaths());
const here = all.filter(({ code }) => !NOT_HERE.test(code));

test('most of the examples need nothing but the package', () => {
  expect(here.length).toBeGreaterThan(all.length / 2);
});

/** What the reader brings. */
const work = async (): Promise<string> => {
  await turn();
  return 'done';
};
const yours = { work, writeOrder: work, report: work, rebuild: work, pay: work };

test.for(here)('$at', async ({ at, code }) => {
  using folder = temporaryFolder();
  const locks = createLocks(memory());
  const phones = await createStock(memoryStock(), { locks }).create('phone', { units: 100 });
  const signal = AbortSignal.timeout(50);
  const brought = { locks, phones, signal, console: { log() {}, warn() {} }, ...yours };
  const given = Object.fromEntries(
    Object.entries(brought).filter(([name]) => !new RegExp(`(?:const|using) ${name}\\b`).test(code)),
  );
  const instead = Object.fromEntries(
    Object.entries({ 'redis://127.0.0.1': 'memory:', '/var/lib/shop': folder.path }).filter(([text]) =>
      code.includes(text),
    ),
  );
  const block = { page: at, heading: 'its example', nth: 1, code };
  const run = (await import(await moduleOf(block, Object.keys(given), instead))).default;
  const made = await settleWithin<{ readonly locks?: Locks }>('it ends', run(given));
  await made.locks?.close();
});
