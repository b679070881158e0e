import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { conformance } from '../../products/testing/index.ts';
import { rows } from './rows.ts';

const db = new DatabaseSync(':memory:');

for (const { name, run } of conformance({ name: 'rows', open: async () => rows(db) })) {
  test(name, async (context) => {
    const { excludedBy } = await run();
    if (excludedBy) context.skip(`needs ${excludedBy}`);
  });
}
