import { setTimeout as pass } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Found, together } from '../block.ts';

/** Stands in a critical section: notes whether it is ever entered by two, and the tokens of those who were inside. */
export function criticalSection() {
  const tokens: bigint[] = [];
  let inside = 0;
  let most = 0;
  return {
    async enter(lease?: { readonly token: bigint }): Promise<void> {
      most = Math.max(most, ++inside);
      if (lease) tokens.push(lease.token);
      await pass(5);
      inside--;
    },
    /** One at a time, so many turns, and each with a higher token. */
    expectOrderly(turns: number): void {
      expect(most).toBe(1);
      expect(tokens).toHaveLength(turns);
      expect(tokens.every((token, i) => i === 0 || token > tokens[i - 1]!)).toBe(true);
    },
  };
}

/** Four run the block at the same moment, and what stands in place of its comment is entered by one at a time. */
export async function expectOneAtATime(
  block: Found,
  instead: Readonly<Record<string, string>>,
  comment = '// …',
): Promise<Record<string, unknown>[]> {
  const section = criticalSection();
  const givens = Array.from({ length: 4 }, () => ({ enter: section.enter }));
  const results = await together(block, givens, { ...instead, [comment]: 'await enter(lease);' });
  section.expectOrderly(4);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
