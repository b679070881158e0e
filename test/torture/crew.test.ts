import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { Crew } from '../../products/torture/referee/crew.ts';
import { RunRecord } from '../../products/torture/referee/run-record.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { settleWithin } from '../kit/wait.ts';

const LIMIT = { timeout: 60_000 };

/** One process that gets ready, and does `atEnd` when the referee asks it to end. */
async function crewOf(folder: string, atEnd: string): Promise<{ crew: Crew; record: RunRecord }> {
  const file = join(folder, 'worker.mjs');
  writeFileSync(
    file,
    `process.on('message', async (message) => {
      if ('task' in message) process.send({ ready: true });
      if ('end' in message) { ${atEnd} }
    });`,
  );
  const record = new RunRecord({ ttl: 2_000, wakes: true, roundTrip: 1 });
  const job = { url: 'file:locks.db', testLocks: [], ttl: 2_000, seed: 1, label: 'crew', links: false, busy: 0 };
  const crew = new Crew({ ...job, processes: 1, worker: pathToFileURL(file) }, record);
  await crew.start();
  return { crew, record };
}

test(
  'the referee reports a process that crashes when it is asked to end, and no process that ends as asked',
  LIMIT,
  async () => {
    using folder = temporaryFolder();
    const crashesOf = async (atEnd: string): Promise<string[]> => {
      const { crew, record } = await crewOf(folder.path, atEnd);
      await crew.end(30_000);
      return record.history.crashes.map(({ how }) => how);
    };
    expect(await crashesOf('await Promise.reject(new Error("its close has failed"));')).toEqual([
      expect.stringContaining('its close has failed'),
    ]);
    expect(await crashesOf('process.disconnect(); process.exit(0);')).toEqual([]);
  },
);

test('a run that ends waits for no answer of a process that has crashed', LIMIT, async () => {
  using folder = temporaryFolder();
  const { crew } = await crewOf(folder.path, 'process.exit(1);');
  const [member] = crew.members;
  member!.send({ end: true });
  await member!.exited;
  const held = crew.block(0, 100, false, AbortSignal.abort());
  expect(await settleWithin('the fault ends', held, 2_000)).toBe(0);
});
