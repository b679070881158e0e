import { expect, test } from 'vitest';
import type { QuorumContext } from '../../../src/backends/quorum/node.ts';
import { type NodeAnswer, noOf, OPEN, REFUSED, refusalOf, TOO_LATE } from '../../../src/backends/quorum/tally.ts';
import { LockError, type LockErrorCode } from '../../../src/core/contract/errors.ts';

const YES: NodeAnswer = { kind: 'yes', token: 1n, tokenCount: 1, until: 1_000 };
const away = (why = 'connection refused'): NodeAnswer => noOf(new Error(why));
const definite = (code: LockErrorCode = 'LOCK_UNAVAILABLE'): NodeAnswer => noOf(new LockError(code, 'is read only'));

/** What a claim for `k` is told that was lost with these answers. */
function told(...said: NodeAnswer[]): unknown {
  const nodes = said.map((_, i) => ({ title: `node ${i + 1}` }));
  const context = { nodes, majority: Math.floor(said.length / 2) + 1 } as unknown as QuorumContext;
  try {
    return refusalOf('k', context, said);
  } catch (error) {
    return error;
  }
}

test.each([
  ['a majority of nodes refused it', [REFUSED, REFUSED, away()], { granted: false }],
  ['one refused it, and one that granted it shows that others may', [REFUSED, YES, away()], { granted: false }],
  ['one was asked too late', [REFUSED, TOO_LATE, REFUSED], { granted: false, late: true }],
] as [string, NodeAnswer[], unknown][])('it is refused where %s', (_, said, answer) => {
  expect(told(...said)).toEqual(answer);
});

test('it is unknown where too many nodes cannot vote, and each is named with what it said', () => {
  expect(told(YES, TOO_LATE, REFUSED, OPEN, away(), away(), away(), away('reset'))).toEqual(
    new AggregateError(
      [1, 2, 3].map(() => new Error('connection refused')).concat(new Error('reset')),
      '4 of 8 nodes cannot vote, and 5 votes are needed: node 1 granted it; node 2 was asked too late; node 3 refused it; ' +
        'node 4 has not answered yet; node 5: connection refused; node 6: connection refused; ' +
        'node 7: connection refused; node 8: reset. Bring back the nodes that are down; check() looks at each',
    ),
  );
});

test('it will never be granted where so many nodes say that they will not vote', () => {
  const error = told(REFUSED, definite(), definite());
  expect(error).toMatchObject({ code: 'LOCK_UNAVAILABLE', key: 'k', backend: 'quorum' });
  expect(error).toMatchObject({ cause: { errors: [{ message: 'is read only' }, { message: 'is read only' }] } });
});

test('it may be granted later where a majority could still vote', () => {
  for (const said of [
    [away(), definite(), away()],
    [YES, definite(), away()],
  ]) {
    const error = told(...said);
    expect(error).toBeInstanceOf(AggregateError);
    expect(error).not.toBeInstanceOf(LockError);
  }
});

test('what a node says is cut where it is long', () => {
  for (const length of [200, 201]) {
    const text = 'x'.repeat(length);
    const { message } = told(YES, away(text)) as Error;
    expect(message).toMatch(new RegExp(`: node 1 granted it; node 2: ${length === 200 ? text : `x{199}…`}\\. `));
  }
});

test('misuse of the quorum is told, whatever the others say', () => {
  expect(told(REFUSED, REFUSED, definite('LOCK_INVALID'))).toMatchObject({ code: 'LOCK_INVALID' });
});
