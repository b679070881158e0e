import { expect } from 'vitest';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { granted, wish } from './scene.ts';

const MORE_THAN_COUNTED = 600;
const RAISED = 1_000;

/**
 * Permits are raised while more hold than one script counts: newcomers who name more stand behind as many holders as there were permits,
 * and these leave one by one.
 */
export async function raisedOneByOne(backend: Backend, key: string): Promise<void> {
  const permits = (of: number) => Array.from({ length: of }, () => wish(key, {}, { units: 1, capacity: of }));
  const old = permits(MORE_THAN_COUNTED);
  for (const attempt of await Promise.all(old.map((claim) => backend.attempt(claim)))) granted(attempt);
  const newcomers = permits(RAISED);
  let told = 0;
  for (const claim of newcomers) await backend.watch!(claim, (grant) => grant && told++);
  await Promise.all(newcomers.map((claim) => backend.attempt(claim)));
  for (const claim of old.slice(1)) expect((await backend.release(claim)).freed).toBe(true);
  await expect.poll(() => told, { message: 'one for each that left' }).toBe(MORE_THAN_COUNTED - 1);
  await backend.release(old[0]!);
  await expect.poll(() => told, { message: 'with the last that named fewer, all' }).toBe(RAISED);
  const late = wish(key, { queue: false }, { units: 1, capacity: RAISED });
  expect((await backend.attempt(late)).granted, 'one more than there are').toBe(false);
  await backend.release(newcomers[0]!);
  granted(await backend.attempt(late));
}
