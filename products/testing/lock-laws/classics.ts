import assert from 'node:assert/strict';
import type { LockOptions } from '../../../src/core/index.ts';
import type { Locks } from '../../../src/locks.ts';
import { type Law, law } from '../case.ts';
import type { Scene } from '../scene.ts';
import { leavingNothing } from './outcomes.ts';

const PERMITS = 3;
const ACCOUNTS = 4;

/** Makes `count` calls at once, from two processes in turn. */
async function crowd(
  scene: Scene,
  count: number,
  call: (locks: Locks, caller: number) => Promise<unknown>,
  options?: LockOptions,
): Promise<[Locks, Locks]> {
  const processes = await scene.processes(options);
  await Promise.all(Array.from({ length: count }, (_, caller) => call(processes[caller % 2]!, caller)));
  return processes;
}

/** What locks protect: work that reads shared data, waits, and then writes the data. */
export const classics: readonly Law[] = leavingNothing([
  counter(10),
  counter(100),
  counter(200),
  counter(20, { handOff: false }, ', without hand-off'),
  law('tokens grow from each owner to the next, over two processes', ['fencing'], async (scene) => {
    let last: bigint | undefined;
    await crowd(scene, 40, (locks) =>
      locks.mutex(scene.key).run(({ token }) => {
        assert.ok(last === undefined || token > last, `token ${token} came after ${last}`);
        last = token;
      }),
    );
  }),
  law('readers see no half of a write, and read together', ['shared units'], async (scene) => {
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
    const processes = await crowd(scene, 30, (locks, i) => {
      const lock = locks.rwLock(scene.key);
      return i % 6 === 0 ? lock.write.run(write) : lock.read.run(read);
    });
    assert.equal(left, 5);
    // The outer reader ends after the inner one: both must read together.
    const [one, other] = processes.map((locks) => locks.rwLock(scene.key).read);
    await one!.run(() => other!.run(read));
  }),
  law('a semaphore lets in what fits, and never more', ['counted units'], async (scene) => {
    let [used, most] = [0, 0];
    await crowd(scene, 30, (locks) => {
      const units = 1 + Math.floor(scene.random() * PERMITS);
      const work = async (): Promise<void> => {
        used += units;
        most = Math.max(most, used);
        await scene.pass(1);
        used -= units;
      };
      return locks.semaphore(scene.key, { permits: PERMITS }).run(work, { units });
    });
    assert.ok(most <= PERMITS, `${most} of ${PERMITS} permits were in use at once`);
    assert.ok(most > 1, 'permits must be in use together');
  }),
  law('transfers between accounts, locked in any order, neither lose money nor wait for each other', async (scene) => {
    const balance = Array.from({ length: ACCOUNTS }, () => 100);
    const account = (): number => Math.floor(scene.random() * ACCOUNTS);
    await crowd(scene, 24, (locks, i) => {
      const from = account();
      const to = (from + 1 + (account() % (ACCOUNTS - 1))) % ACCOUNTS;
      return locks.all([`${scene.key}/${from}`, `${scene.key}/${to}`]).run(async () => {
        const [a, b] = [balance[from]!, balance[to]!];
        await scene.pass(1);
        balance[from] = a - i;
        balance[to] = b + i;
      });
    });
    const sum = balance.reduce((sum, each) => sum + each, 0);
    assert.equal(sum, ACCOUNTS * 100);
    for (const number of balance.keys()) await scene.isFree(`${scene.key}/${number}`);
  }),
]);

function counter(callers: number, options?: LockOptions, how = ''): Law {
  return law(`${callers} callers in two processes lose no update of one counter${how}`, async (scene) => {
    let count = 0;
    const increment = async (): Promise<void> => {
      const read = count;
      await scene.pass(1);
      count = read + 1;
    };
    await crowd(scene, callers, (locks) => locks.mutex(scene.key).run(increment), options);
    assert.equal(count, callers, `${callers - count} of ${callers} updates were lost`);
  });
}
