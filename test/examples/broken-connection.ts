import type { EventEmitter } from 'node:events';
import { expect } from 'vitest';
import { until } from '../kit/wait.ts';

/** The first connection tells an error, and breaks. @param opened so far, in their order */
export async function breaksAndIsOpenedAgain(opened: readonly (EventEmitter & { close(): void })[]): Promise<void> {
  await until('one is connected', () => opened.length === 1);
  const [first] = opened;
  expect(() => first!.emit('error', new Error('reset')), 'an error that nobody hears ends the process').not.toThrow();
  first!.close();
  await until('it is connected again', () => opened.length === 2);
}
