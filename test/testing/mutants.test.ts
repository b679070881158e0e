import { describe, expect, test } from 'vitest';
import { laws } from '../../src/testing/index.ts';
import { MUTANTS, subjectOf } from './mutants.ts';

describe('the laws find a backend that', () => {
  test.each(MUTANTS)('$bug', async (mutant) => {
    const found = laws(subjectOf(mutant)).find(({ name }) => name === mutant.foundBy);
    await expect(found?.run(), `case "${mutant.foundBy}"`).rejects.toThrow();
  });
});
