import { describe, expect, test } from 'vitest';
import { conformance } from '../../products/testing/index.ts';
import { MUTANTS, subjectOf } from './mutants.ts';

describe('the suite finds a backend that', () => {
  test.each(MUTANTS)('$bug', async (mutant) => {
    const found = conformance(subjectOf(mutant)).find(({ name }) => name === mutant.foundBy);
    await expect(found?.run(), `case "${mutant.foundBy}"`).rejects.toThrow();
  });
});
