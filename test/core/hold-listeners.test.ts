import { expect, test } from 'vitest';
import { HoldListeners } from '../../src/core/queue/hold-listeners.ts';
import { LockError } from '../../src/index.ts';

test('a loss is told to all who listen by then, once, and to those who come later at once', () => {
  const hold = { claim: { key: 'k' }, over: false, loss: undefined as LockError | undefined };
  const listeners = new HoldListeners(hold);
  const told: string[] = [];
  listeners.onLoss(() => told.push('first'));
  const unlisten = listeners.onLoss(() => told.push('gone'));
  listeners.onLoss(() => told.push('last'));
  unlisten();
  hold.loss = new LockError('LOCK_LOST', 'a test');
  expect(told, 'before it is told').toEqual([]);
  listeners.notify(hold.loss);
  expect(told).toEqual(['first', 'last']);
  const end = listeners.onLoss((error) => told.push(error.message));
  end();
  expect(told.at(-1)).toBe('a test');
});
