import assert from 'node:assert/strict';
import type { LockOptions } from '../../core/index.ts';
import { type Law, law } from '../law.ts';

const PERMITS = 3;
const ACCOUNTS = 4;

/** What locks are for: work that reads shared data, waits, and writes it. */
export const classics: readonly Law[] = [
  counter(10),
  counter(100),
  counter(200),
  counter(20, { handOff: false }),
  law('tokens grow from each owner to the next, over two processes', ['fencing'], async (scene) => {
    const processes = await scene.processes();
    const tokens: bigint[] = [];
    const callers = Array.from({ length: 40 }, (_, i) =>
      processes[i % 2]!.mutex(scene.key).run(({ token }) => {
        tokens.push(token);
      }),
    );
    await Promise.all(callers);
    for (const [i, token] of tokens.entries()) {
      assert.ok(i === 0 || token > tokens[i - 1]!, `token ${token} came after ${tokens[i - 1]}`);
    }
  }),
  law('readers see no half of a write, and read together', ['shared seats'], async (scene) => {
    const processes = await scene.processes();
    let [left, right] = [0, 0];
    const write = async (): Promise<void> => {
      left++;
      await scene.pass(1);
      right++;
    };
    const read = async (): Promise<void> => {
      assert.equal(left, right, 'a reader saw half of a write');
      await scene.pass(1);
      assert.equal(left, right, 'a writer came in beside a reader');
    };
    const callers = Array.from({ length: 30 }, (_, i) => {
      const lock = processes[i % 2]!.rwLock(scene.key);
      return i % 6 === 0 ? lock.write.run(write) : lock.read.run(read);
    });
    await Promise.all(callers);
    assert.equal(left, 5);
    // One leaves only after the other was in.
    const [one, other] = processes.map((locks) => locks.rwLock(scene.key).read);
    await one!.run(() => other!.run(read));
    await scene.isFree();
  }),
  law('a semaphore lets in what fits, and never more', ['counted seats'], async (scene) => {
    const processes = await scene.processes();
    let [used, most] = [0, 0];
    const callers = Array.from({ length: 30 }, (_, i) => {
      const units = 1 + Math.floor(scene.random() * PERMITS);
      const work = async (): Promise<void> => {
        used += units;
        most = Math.max(most, used);
        await scene.pass(1);
        used -= units;
      };
      return processes[i % 2]!.semaphore(scene.key, { permits: PERMITS }).run(work, { units });
    });
    await Promise.all(callers);
    assert.ok(most <= PERMITS, `${most} of ${PERMITS} permits were in use at once`);
    assert.ok(most > 1, 'permits must be in use together');
    await scene.isFree();
  }),
  law('transfers between accounts, locked in any order, neither lose money nor wait for each other', async (scene) => {
    const processes = await scene.processes();
    const balance = Array.from({ length: ACCOUNTS }, () => 100);
    const account = (): number => Math.floor(scene.random() * ACCOUNTS);
    const callers = Array.from({ length: 24 }, (_, i) => {
      const from = account();
      const to = (from + 1 + (account() % (ACCOUNTS - 1))) % ACCOUNTS;
      return processes[i % 2]!.all([`${scene.key}/${from}`, `${scene.key}/${to}`]).run(async () => {
        const [a, b] = [balance[from]!, balance[to]!];
        await scene.pass(1);
        balance[from] = a - i;
        balance[to] = b + i;
      });
    });
    await Promise.all(callers);
    assert.equal(
      balance.reduce((sum, each) => sum + each, 0),
      ACCOUNTS * 100,
    );
    for (const number of balance.keys()) await scene.isFree(`${scene.key}/${number}`);
  }),
];

function counter(callers: number, options: LockOptions = {}): Law {
  const name = `${callers} callers in two processes lose no update of one counter${options.handOff === false ? ', without hand-off' : ''}`;
  return law(name, async (scene) => {
    const processes = await scene.processes(options);
    let count = 0;
    const increment = async (): Promise<void> => {
      const read = count;
      await scene.pass(1);
      count = read + 1;
    };
    const work = Array.from({ length: callers }, (_, i) => processes[i % 2]!.mutex(scene.key).run(increment));
    await Promise.all(work);
    assert.equal(count, callers, `${callers - count} of ${callers} updates were lost`);
    await scene.isFree();
  });
}
