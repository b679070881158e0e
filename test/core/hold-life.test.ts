import { expect, test } from 'vitest';
import { HoldLife } from '../../src/core/queue/hold-life.ts';
import { LockError } from '../../src/index.ts';

type State = Parameters<HoldLife['become']>[0];
const loss = new LockError('LOCK_LOST', 'a test');

test.each<[State[], boolean[], boolean]>([
  [['lost', 'lost'], [true, false], false],
  [['lost', 'released', 'lost', 'ended'], [true, true, false, false], true],
  [['released', 'released', 'lost', 'ended'], [true, false, false, false], true],
  [['ended', 'lost', 'released'], [true, false, false], true],
  [['lost', 'ended'], [true, true], true],
])('of %j may come %j, and then it is over: %j', (states, may, over) => {
  const life = new HoldLife();
  expect(life.over).toBe(false);
  expect(states.map((state) => life.become(state))).toEqual(may);
  expect(life.over).toBe(over);
});

test('a loss is told to all who listen by then, once, and to those who come later at once', () => {
  const life = new HoldLife();
  const told: string[] = [];
  life.onLoss(() => told.push('first'));
  const unlisten = life.onLoss(() => told.push('gone'));
  life.onLoss(() => told.push('last'));
  unlisten();
  const tell = life.endByLoss(loss);
  expect(life.loss).toBe(loss);
  expect(told, 'before it is told').toEqual([]);
  tell();
  expect(told).toEqual(['first', 'last']);
  const end = life.onLoss((error) => told.push(error.message));
  end();
  expect(told.at(-1)).toBe('a test');
});
