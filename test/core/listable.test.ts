/** What is said where an engine cannot list what a call needs. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { memory } from '../../src/backends/memory.ts';
import { checkListable, checkWaitersListed } from '../../src/core/contract/options.ts';

const engine = memory();
const blind = around(engine, { inspect: undefined as never });
const unfair = { ...engine.traits, fair: false };

test.each([
  ['keeps no queue', around(engine, { traits: unfair }), 'keeps no queue, so it cannot list who waits'],
  ['lists nothing', blind, 'cannot list who holds and who waits'],
  ['does neither', around(blind, { traits: unfair }), 'cannot list who holds and who waits'],
])('where waiters have to be listed, an engine that %s is refused, with the reason and a way out', (_, backend, why) => {
  const refused = () => checkWaitersListed(backend, 'do without', 'k');
  const details = { code: 'LOCK_UNSUPPORTED', backend: 'memory', key: 'k', message: `"memory" ${why}; do without` };
  expect(refused).toThrow(expect.objectContaining(details));
  expect(() => checkWaitersListed(engine, 'do without')).not.toThrow();
});

test('a listing takes any text as the beginning of its keys, and nothing else', () => {
  for (const prefix of ['', 'orders:', '*']) expect(() => checkListable(engine, prefix)).not.toThrow();
  const refused = () => checkListable(engine, 5 as never);
  expect(refused).toThrow(
    expect.objectContaining({ code: 'LOCK_INVALID', message: 'a prefix must be a string, not 5' }),
  );
});

test('an engine that lists nothing is told as the reason', () => {
  const details = { code: 'LOCK_UNSUPPORTED', backend: 'memory', message: '"memory" cannot list its locks' };
  expect(() => checkListable(blind, '')).toThrow(expect.objectContaining(details));
});
