import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import type { Backend, Finding } from '../../../src/core/contract/backend.ts';
import { LockError } from '../../../src/core/contract/errors.ts';
import { claim } from './nodes.ts';
import { NO, scripted, yes } from './scripted.ts';

const FINDING: Finding = { severity: 'warning', code: 'no-persistence', message: 'it forgets', advice: 'let it save' };
let names = 0;
/** A node that says who it is, and what is wrong with it. */
const node = (check?: Backend['check']): Backend => {
  const name = `run ${names++}`;
  return around(memory(), { check: check as NonNullable<Backend['check']>, incarnation: () => name });
};
const found = async (...nodes: Backend[]) =>
  (await quorum(nodes).check!()).map(({ severity, code }) => [severity, code]);

test('nothing is wrong with three nodes of which nothing is', async () => {
  expect(
    await found(
      node(),
      node(async () => []),
      node(),
    ),
  ).toEqual([]);
});

test('an even number of nodes survives no more losses than one less', async () => {
  expect(await found(node(), node())).toEqual([['info', 'even-nodes']]);
  expect(await found(node(), node(), node(), node(), node())).toEqual([]);
});

test('what a node says of itself is told under its number', async () => {
  const findings = await quorum([node(), node(async () => [FINDING]), node()]).check!();
  expect(findings).toEqual([{ ...FINDING, message: 'node 2 (memory): it forgets' }]);
});

test('a node that does not answer is a danger, with the reason', async () => {
  const down = node(() => Promise.reject(new Error('connection refused')));
  const odd = node(() => Promise.reject('a text'));
  const findings = await quorum([node(), down, odd]).check!();
  expect(findings).toMatchObject([
    { severity: 'danger', code: 'node-unavailable', message: 'node 2 (memory): connection refused' },
    { severity: 'danger', code: 'node-unavailable', message: 'node 3 (memory): a text' },
  ]);
});

test('of a node that names no run it is told that nobody sees whether it started anew, unless nobody looks', async () => {
  const nameless = around(memory(), { check: async () => [FINDING], incarnation: undefined as never });
  const nodes = [node(), node(), nameless];
  expect(await found(...nodes)).toEqual([
    ['warning', 'no-persistence'],
    ['info', 'restart-unseen'],
  ]);
  const findings = await quorum(nodes, { restartGuard: false }).check!();
  expect(findings.map(({ code }) => code)).toEqual(['no-persistence']);
});

test('a node that cannot take a number makes the quorum refuse every claim, with the reason', async () => {
  const { nodes, attempt, say, settled, asked } = scripted();
  const first = await attempt(claim());
  nodes[2]!.attempts[0]!.fail(new LockError('LOCK_UNSUPPORTED', 'it numbers its grants itself'));
  await say(yes(1n), yes(1n));
  expect(first.value, 'whose majority is there').toMatchObject({ granted: true });
  const next = await attempt(claim());
  await settled();
  expect(next.error).toMatchObject({
    code: 'LOCK_INVALID',
    message: 'node 3 (memory) cannot be one of a quorum: it numbers its grants itself',
  });
  expect(asked()).toEqual([1, 1, 1]);
});

test('a node whose grants say nothing makes the quorum refuse every claim, with the reason', async () => {
  const { attempt, say, settled, asked } = scripted();
  const first = await attempt(claim());
  await say(yes(1n), yes(1n), yes(1n, { validFor: 0 }));
  expect(first.value, 'whose majority is there').toMatchObject({ granted: true });
  const next = await attempt(claim());
  await settled();
  expect(next.error).toMatchObject({
    code: 'LOCK_INVALID',
    message: 'node 3 (memory) cannot be one of a quorum: it grants for 0 ms',
  });
  expect(asked()).toEqual([1, 1, 1]);
});

test('a node that refuses a long lease makes the quorum refuse leases as long, and serves shorter ones', async () => {
  const { nodes, attempt, say, asked } = scripted();
  const refused = async (ttl: number, token: bigint): Promise<void> => {
    const long = await attempt(claim({ key: `${ttl}`, ttl }));
    nodes[2]!.attempts.at(-1)!.fail(new LockError('LOCK_UNSUPPORTED', `it keeps nothing for ${ttl} ms`));
    await say(yes(token), yes(token));
    expect(long.value, `${ttl} ms, which a majority grants`).toMatchObject({ granted: true });
  };
  await refused(60_000, 10n);
  const longer = await attempt(claim({ key: 'longer', ttl: 90_000 }));
  expect(longer.error?.message).toBe('node 3 (memory) cannot be one of a quorum: it keeps nothing for 60000 ms');
  await refused(40_000, 20n);
  const before = asked();
  const short = await attempt(claim({ key: 'short', ttl: 5_000 }));
  expect(asked(), 'nodes that were asked for a shorter lease').toEqual(before.map((count) => count + 1));
  await say(yes(30n), yes(30n), yes(30n));
  expect(short.value, 'a shorter lease').toMatchObject({ granted: true });
  const long = await attempt(claim({ key: 'long', ttl: 40_000 }));
  expect(long.error?.message, 'the shortest that was refused').toContain('nothing for 40000 ms');
});

test('a node that cannot be asked for another reason is one vote less', async () => {
  const { nodes, attempt, say, asked } = scripted();
  await attempt(claim());
  nodes[2]!.attempts[0]!.fail(new LockError('LOCK_UNAVAILABLE', 'it is read only'));
  await say(NO, NO);
  await attempt(claim({ key: 'other' }));
  expect(asked()).toEqual([2, 2, 2]);
});
