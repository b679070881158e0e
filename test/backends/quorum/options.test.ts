import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import type { Traits } from '../../../src/core/contract/traits.ts';
import { createLocks } from '../../../src/index.ts';

const two = (): Backend[] => [memory(), memory()];
const invalid = (message: RegExp) =>
  expect.objectContaining({ code: 'LOCK_INVALID', message: expect.stringMatching(message) });

test.each([
  ['less than no drift', { drift: -0.01 }, /drift is -0.01; it must be from 0 to 0.5/],
  ['more drift than half a lease', { drift: 0.51 }, /drift is 0.51/],
  ['a drift that is no number', { drift: Number.NaN }, /drift is NaN/],
  ['a guard that is neither on nor off', { restartGuard: 'no' as never }, /restartGuard is "?no"?; it must be/],
  ['a shorter lease than there is', { maxTtl: 99 }, /maxTtl/],
  ['an option that there is not', { driftt: 0 } as never, /driftt/],
])('%s is refused with the reason', (_, options, message) => {
  expect(() => quorum(two(), options)).toThrow(invalid(message));
});

test.each([{ drift: 0 }, { drift: 0.5 }, { maxTtl: 100 }, { restartGuard: false }, {}])('%o is good', (options) => {
  expect(quorum(two(), options).name).toBe('quorum');
});

test('a quorum has at least two nodes, and each once', () => {
  const node = memory();
  expect(() => quorum([])).toThrow(invalid(/at least two backends, not 0/));
  expect(() => quorum([node])).toThrow(invalid(/at least two backends, not 1/));
  expect(() => quorum(undefined as never)).toThrow(invalid(/at least two backends, not undefined/));
  expect(() => quorum({ length: 3 } as never)).toThrow(invalid(/at least two backends, not 3/));
  expect(() => quorum([node, memory(), node])).toThrow(invalid(/the same backend twice/));
  expect(() => quorum([node, 'redis' as never])).toThrow(invalid(/quorum\(\)/));
});

test('by default a lease is 70 s at most, the error names `maxTtl`, and no call asks for more by default', async () => {
  await using locks = createLocks(quorum(two()));
  await (await locks.mutex('longest').acquire({ ttl: '70s' })).release();
  expect(() => locks.mutex('longer', { ttl: '71s' })).toThrow(invalid(/from .* to 70 s; .* `maxTtl` to all processes/));
  expect(await locks.once('tick', new Date(Date.now() - (Date.now() % 1_000)), () => 'ran')).toMatchObject({
    ran: true,
  });
  await expect(locks.once('later', new Date(0), () => 'ran', { within: '5m' })).rejects.toThrow(invalid(/`maxTtl`/));
});

/** What a quorum of two can do, of which one is as said and the other can do all. */
const traitsWith = (traits: Partial<Traits>, maxTtl = 60_000): Traits[] => {
  const all: Traits = { ...memory().traits, fencing: 'always', ttl: { min: 1, max: 100_000 } };
  const nodes = [{}, traits].map((own) => around(memory(), { traits: { ...all, ...own } }));
  return [nodes, nodes.toReversed()].map((each) => quorum(each, { maxTtl }).traits);
};

test.each<[string, Partial<Traits>, Partial<Traits>]>([
  ['readers, but no permits, as majorities do not count', {}, { units: 'shared' }],
  ['mutexes only, where a node has no more', { units: 'exclusive' }, { units: 'exclusive' }],
  ['tokens as long as the nodes keep them', {}, { fencing: 'durable' }],
  ['no tokens, where a node has none', { fencing: 'never' }, { fencing: 'never' }],
  ['several tokens in a row', {}, { tokenBlocks: true }],
  ['one token at a time, where a node gives no more', { tokenBlocks: false }, { tokenBlocks: false }],
  ['holds that expire by themselves', {}, { expires: true }],
  ['none that do, where those of a node do not', { expires: false }, { expires: false }],
  ['no expiry that has to be watched, where none of a node has', {}, { observedExpiry: false }],
  ['an expiry that has to be watched, where one of a node has', { observedExpiry: true }, { observedExpiry: true }],
  ['no holders of other programs', {}, { hasStrangers: false }],
  ['holders of other programs, where a node has them', { hasStrangers: true }, { hasStrangers: true }],
  ['claims that are kept by a lease', {}, { lifetime: 'lease' }],
  ['claims that are kept by a session, where those of a node are', { lifetime: 'session' }, { lifetime: 'session' }],
  ['leases as long as it allows', {}, { ttl: { min: 1, max: 60_000 } }],
  ['leases that each node can keep', { ttl: { min: 50, max: 30_000 } }, { ttl: { min: 50, max: 30_000 } }],
  [
    'no advice to allow longer leases, where a node can keep none',
    { ttl: { min: 1, max: 30_000 } },
    { ttl: { min: 1, max: 30_000, advice: undefined } },
  ],
  ['no line, and nobody who is woken', {}, { fair: false, wakes: 'never' }],
])('a quorum has %s', (_, node, expected) => {
  for (const traits of traitsWith(node)) expect(traits).toMatchObject(expected);
});

test('it lists and evicts where every node can', () => {
  const can = (nodes: Backend[]) => {
    const { inspect, evict } = quorum(nodes);
    return [inspect !== undefined, evict !== undefined];
  };
  expect(can(two())).toEqual([true, true]);
  expect(can([memory(), around(memory(), { evict: undefined as never })])).toEqual([true, false]);
  expect(can([memory(), around(memory(), { inspect: undefined as never })])).toEqual([false, false]);
});
