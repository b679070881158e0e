import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { until } from '../kit/wait.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The keys whose leases are warned of while `work` goes on, until `enough`. */
async function warned(locks: Locks, work: () => Promise<void>, enough: string): Promise<string[]> {
  const said: string[] = [];
  const note = ({ name, message }: Error): void => {
    if (name === 'HoldfastDroppedLeaseWarning') said.push(/"(.*?)"/.exec(message)![1]!);
  };
  process.on('warning', note);
  try {
    await work();
    await until(`a warning of ${enough}`, () => {
      collect();
      return said.includes(enough);
    });
  } finally {
    process.off('warning', note);
    await locks.close();
  }
  return said;
}

test('a lease that is dropped without a release is warned of, once; one that is kept, released or not renewed is not', async () => {
  const locks = createLocks(memory(), { ttl: '300ms' }); // a lease is watched from its first renewal on
  const kept = await locks.mutex('kept').acquire();
  const said = await warned(
    locks,
    async () => {
      await (await locks.mutex('released').acquire()).release();
      await locks.mutex('run').run(() => {});
      await locks.mutex('not renewed').acquire({ renew: false });
      await Promise.race([locks.mutex('dropped').acquire(), Promise.resolve()]);
    },
    'dropped',
  );
  expect(said).toEqual(['dropped']);
  expect(kept.key).toBe('kept');
});
