import { expect } from 'vitest';
import type { Backend } from '../../src/core/contract/backend.ts';
import { listOf } from '../../src/core/contract/promises.ts';
import { createLocks } from '../../src/index.ts';
import { until } from '../kit/wait.ts';

/** The waiter of one process gets the result of another process that is kept for nobody else. @param open one engine, for each process */
export async function waiterGetsUnkept(open: () => Backend): Promise<void> {
  await using first = createLocks(open());
  const watching = open();
  await using second = createLocks(watching);
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = first.memo<string>('key').run(() => promise);
  const standing = async (count: number): Promise<void> =>
    until(`${count} stand in the line`, async () => (await listOf(watching.inspect!('key'))).length === count);
  await standing(1);
  const waiting = second.memo<string>('key').run(() => 'of the second');
  await standing(2);
  resolve('of the first');
  expect(await running).toMatchObject({ value: 'of the first', ran: true, kept: true });
  expect(await waiting).toMatchObject({ value: 'of the first', ran: false });
  expect(await first.memo<string>('key').run(() => 'a later one'), 'it is not kept').toMatchObject({ ran: true });
}
