import type { Mutant } from './mutant.ts';

interface Insertion {
  readonly at: number;
  readonly text: string;
  /** What ends at a place comes before what begins there; of these, the outer one begins first and ends last. */
  readonly order: readonly [ends: 0 | 1, tokenCount: number];
}

/**
 * The text of a file with all its mutants in it: each does its work where `__mutant(number)` says so.
 * @param numberOf of each mutant, over all files
 */
export function schemata(whole: string, mutants: readonly Mutant[], numberOf: (mutant: Mutant) => number): string {
  const places = Map.groupBy(mutants, ({ start, end, kind }) => `${start} ${end} ${kind}`);
  const insertions: Insertion[] = [];
  for (const together of places.values()) {
    const { kind, start, end } = together[0]!;
    const span = end - start;
    const on = (mutant: Mutant): string => `__mutant(${numberOf(mutant)})`;
    const around = (before: string, after: string): void => {
      insertions.push({ at: start, text: before, order: [1, -span] }, { at: end, text: after, order: [0, span] });
    };
    if (kind === 'guard') around(`{ if (!${on(together[0]!)}) `, ' }');
    else if (kind === 'skip')
      insertions.push(
        { at: start + 1, text: ` if (!${on(together[0]!)}) {`, order: [1, -Infinity] },
        { at: end - 1, text: '}', order: [0, Infinity] },
      );
    else around(`(${together.map((mutant) => `${on(mutant)} ? (${mutant.to}) : `).join('')}(`, '))');
  }
  insertions.sort((a, b) => a.at - b.at || a.order[0] - b.order[0] || a.order[1] - b.order[1]);
  let text = '';
  let from = 0;
  for (const { at, text: more } of insertions) {
    text += whole.slice(from, at) + more;
    from = at;
  }
  return text + whole.slice(from);
}
