import type { Section } from './orders.ts';

export interface Verdict {
  readonly winners: number;
  readonly wonTwice: number;
  readonly wonByNobody: number;
  /** Whether the tokens of every order grew from tap to tap; undefined without tokens. */
  readonly tokensInOrder: boolean | undefined;
  readonly right: boolean;
}

export function judge(sections: readonly Section[], orders: number): Verdict {
  const wins = new Map<number, number>();
  const newest = new Map<number, bigint>();
  let ordered = true;
  let tokens = false;
  for (const { order, token, won } of sections) {
    if (won) wins.set(order, (wins.get(order) ?? 0) + 1);
    if (token === 0n) continue;
    tokens = true;
    ordered &&= token > (newest.get(order) ?? 0n);
    newest.set(order, token);
  }
  const counts = [...wins.values()];
  const wonTwice = counts.filter((count) => count > 1).length;
  const wonByNobody = orders - counts.length;
  return {
    winners: counts.reduce((sum, count) => sum + count, 0),
    wonTwice,
    wonByNobody,
    tokensInOrder: tokens ? ordered : undefined,
    right: wonTwice === 0 && wonByNobody === 0 && ordered,
  };
}

/** The value below which `share` (0 to 1) of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
