/** Programs with different prefixes that share one locks file. */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { schema } from '../../../src/backends/file/sql.generated.ts';
import { prepare } from '../../../src/backends/file/statements.ts';
import { FileTransaction } from '../../../src/backends/file/transaction.ts';
import { StoredNames } from '../../../src/backends/shared/names.ts';
import { TokenCounter } from '../../../src/backends/shared/stored-queue.ts';
import { claim } from '../../core/claim.ts';

/** Gives a transaction of the program with this prefix, at this time. */
function sharedFile() {
  const db = new DatabaseSync(':memory:');
  db.exec(schema);
  const sql = prepare(db);
  const tokens = new TokenCounter(0n);
  let versions = 0;
  const contexts = new Map(
    ['shop', 'holdfast'].map((prefix) => [
      prefix,
      {
        ...{ names: new StoredNames(prefix), process: `socket of ${prefix}`, tokens, known: new Map() },
        newVersion: () => `${++versions}`,
      },
    ]),
  );
  return (prefix: 'shop' | 'holdfast', now: number) => new FileTransaction(contexts.get(prefix)!, sql, now);
}

test('a sweep also removes the expired claims of a program with another prefix, and ends', () => {
  const turn = sharedFile();
  turn('shop', 1).attempt(claim('first', { key: 'k', ttl: 10 }), 1);
  turn('holdfast', 1).attempt(claim('second', { key: 'k', ttl: 10 }), 1);
  turn('holdfast', 100).sweep();
  expect(turn('holdfast', 100).sweep(), 'whether nothing is left').toBe(true);
  expect(turn('shop', 100).inspect('', false)).toEqual([]);
});

test('a process that notices the death of another one frees its claims, also those of another prefix', () => {
  const turn = sharedFile();
  turn('shop', 1).attempt(claim('dead', { key: 'k' }), 1);
  turn('holdfast', 1).attempt(claim('own', { key: 'k' }), 1);
  turn('holdfast', 2).removeDead('socket of shop');
  expect(turn('holdfast', 2).removeDead('socket of shop'), 'whether nothing is left').toBe(true);
  expect(turn('shop', 2).inspect('', false), 'the claims of the dead').toEqual([]);
  expect(turn('holdfast', 2).inspect('', false), 'the key of the same name under the own prefix').toHaveLength(1);
});
