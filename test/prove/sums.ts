/** Adds what a page says of earlier rounds to what the next round says: the page is all that one checkout hands to another. */

const NUMBER = /\d[\d,]*(?:\.\d+)?/g;
const numberIn = (text: string): number => Number(text.replaceAll(',', ''));
/** A sum as the page writes numbers, with as many decimals. */
function sumOf(one: string, other: string): string {
  const digits = Math.max(...[one, other].map((text) => text.split('.')[1]?.length ?? 0));
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: /,/.test(one + other) };
  return (numberIn(one) + numberIn(other)).toLocaleString('en-US', options);
}

/** The counts by kind in a cell, such as `killed 2, stopped 1`; a kind may have commas. Undefined: the cell is something else. */
function countsIn(cell: string): [kind: string, count: number][] | undefined {
  if (!/^[^\d;:]+ \d+(?:, [^\d;:]+ \d+)*$/.test(cell)) return undefined;
  return Array.from(cell.matchAll(/([^\d;:]+?) (\d+)(?:, |$)/g), ([, kind, count]) => [kind!, Number(count)]);
}

/** Adds two cells of one kind: numbers with the same words around them, or counts by kind. Others stand side by side. Pure. */
export function added(before: string, now: string): string {
  if (/^(?:-|nothing)$/.test(before)) return now;
  if (/^(?:-|nothing)$/.test(now)) return before;
  const numbers = now.match(NUMBER) ?? [];
  if (before.replace(NUMBER, '#') === now.replace(NUMBER, '#') && numbers.length > 0) {
    const earlier = before.match(NUMBER)!;
    let at = 0;
    return now.replace(NUMBER, () => sumOf(earlier[at]!, numbers[at++]!));
  }
  const [one, other] = [countsIn(before), countsIn(now)];
  if (one && other) {
    const all = new Map(one);
    for (const [kind, count] of other) all.set(kind, (all.get(kind) ?? 0) + count);
    return [...all].map(([kind, count]) => `${kind} ${count}`).join(', ');
  }
  return [...new Set([...before.split('; '), ...now.split('; ')])].join('; ');
}

/** Adds two rows of a table, cell by cell. @param by how to add the cells of a column; default `added` */
export const addedRows = (
  head: readonly string[],
  before: string,
  now: string,
  by: Readonly<Record<string, (before: string, now: string) => string>>,
): string => {
  const earlier = cellsOf(before);
  const cells = cellsOf(now).map((cell, at) => (by[head[at]!] ?? added)(earlier[at]!, cell));
  return rowOf(...cells);
};

export const rowOf = (...cells: unknown[]): string => `| ${cells.join(' | ')} |`;
export const cellsOf = (row: string): string[] => row.slice(2, -2).split(' | ');

/** The longer of two times, `12.3 s`. */
export const longer = (before: string, now: string): string =>
  Number.parseFloat(before) > Number.parseFloat(now) ? before : now;

/** The first and the last day of both, and the sources: `2026-11-28 to 2026-11-29, 1a2b3c4d`. */
export function spanned(before: string, now: string): string {
  const [days, ...sources] = now.split(', ');
  const [first] = before.split(/, | to /);
  const last = days!.split(' to ').at(-1)!;
  return [first === last ? last : `${first} to ${last}`, ...sources].join(', ');
}

/** The sources that a cell `when, on which sources` names. */
export const sourcesIn = (cell: string): string => cell.slice(cell.indexOf(', ') + 2);
