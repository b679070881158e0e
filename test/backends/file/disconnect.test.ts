/** What the end of one process costs another one that has very many claims. */
import { expect, test, vi } from 'vitest';
import { file } from '../../../src/backends/file/index.ts';
import { FileTransaction } from '../../../src/backends/file/transaction.ts';
import { claim } from '../../core/claim.ts';
import { until } from '../../kit/wait.ts';
import { LocksFile } from './locks-file.ts';

const CLAIMS = 1_000;
/** A transaction looks at no more claims than this: every other process waits for its end. */
const MOST = 100;

test('a process that looks after its many claims, since another process has ended, lets others use the file in between', async () => {
  await using at = new LocksFile();
  const [ended, own] = [file({ path: at.path }), file({ path: at.path })];
  await ended.attempt(claim('first', { key: 'k' }));
  await own.attempt(claim('waits', { key: 'k' }));
  const woken = new Set<number>();
  for (let i = 0; i < CLAIMS; i++) {
    const mine = claim(`own ${i}`, { key: `own ${i}`, ttl: 600_000 });
    await own.attempt(mine);
    own.watchHold!(mine, () => woken.add(i), 0);
  }
  await new Promise((connected) => setTimeout(connected, 300));
  woken.clear();
  const { step } = FileTransaction.prototype;
  const looks = new Map<FileTransaction, number>();
  const spy = vi.spyOn(FileTransaction.prototype, 'step').mockImplementation(function (this: FileTransaction, ...of) {
    looks.set(this, (looks.get(this) ?? 0) + 1);
    return step.apply(this, of);
  });
  try {
    await ended.close();
    await until('all claims are looked after', () => woken.size === CLAIMS);
  } finally {
    spy.mockRestore();
    await own.close();
  }
  expect(Math.max(...looks.values()), 'claims in one transaction').toBeLessThanOrEqual(MOST);
});
