import { setTimeout as pass } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { currentRun, Memo, memoized, useLocks } from '../../src/decorator/index.ts';
import { type Backend, createLocks, type Locks } from '../../src/index.ts';

let engine: Backend;
let locks: Locks;
let before: Disposable;
beforeEach(() => {
  engine = memory();
  locks = createLocks(engine);
  before = useLocks(locks);
});
afterEach(async () => {
  before[Symbol.dispose]();
  await locks.close();
});

class Reports {
  readonly name = 'shop';
  runs = 0;

  @Memo({ key: 'report:{0}', keep: '1h', match: (_day: string, currency: string) => currency })
  async build(day: string, currency: string): Promise<{ text: string; token: string }> {
    this.runs++;
    await pass(2);
    if (day === 'never') throw new RangeError('no such day');
    return { text: `${this.name} ${day} ${currency}`, token: `${currentRun().token}` };
  }
}

test('of all calls with the same key one runs the method, and each has a value of its own', async () => {
  const reports = new Reports();
  const results = await Promise.all([1, 2, 3].map(() => reports.build('monday', 'EUR')));
  expect(results).toEqual(Array(3).fill({ text: 'shop monday EUR', token: expect.stringMatching(/^\d+$/) }));
  expect(new Set(results).size, 'values').toBe(3);
  await reports.build('tuesday', 'EUR');
  expect(reports.runs).toBe(2);
  expect((await locks.memo('report:monday').peek()).state).toBe('kept');
});

test('another request under the same key is a mismatch, and the error of the method is its own', async () => {
  const reports = new Reports();
  await reports.build('monday', 'EUR');
  await expect(reports.build('monday', 'CHF')).rejects.toMatchObject({ code: 'LOCK_MISMATCH' });
  await expect(reports.build('never', 'EUR')).rejects.toThrow(new RangeError('no such day'));
  await expect(reports.build('never', 'EUR')).rejects.toThrow(RangeError);
  expect(reports.runs, 'an error is not kept').toBe(3);
});

test('a function is remembered in the same way, by other Locks too', async () => {
  await using others = createLocks(engine);
  let runs = 0;
  const work = async (shop: string): Promise<number> => shop.length + runs++;
  const [one, other] = [locks, others].map((of) => memoized({ key: 'prices:{0}', keep: '1h', locks: of }, work));
  expect(await Promise.all([one!('abc'), other!('abc')])).toEqual([3, 3]);
  expect(runs).toBe(1);
});

test('what is no option, no key or no method is refused when it is made', () => {
  const refused = expect.objectContaining({ code: 'LOCK_INVALID' });
  const work = async (): Promise<number> => 1;
  expect(() => memoized({ key: 'a:{1}' }, work)).toThrow(refused);
  expect(() => memoized({ key: 1 as never }, work)).toThrow(refused);
  expect(() => memoized({ key: 'a', match: 'EUR' as never }, work)).toThrow(refused);
  expect(() => memoized({ key: 'a' }, function* () {} as never)).toThrow(refused);
  expect(() => currentRun()).toThrow(expect.objectContaining({ code: 'LOCK_NOT_HELD' }));
});
