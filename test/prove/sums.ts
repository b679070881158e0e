/** Adds what a page says of earlier rounds to what the next round says: the page is all that one checkout hands to another. */

const NUMBER = /\d[\d,]*(?:\.\d+)?/g;
export const numberIn = (text: string): number => Number(text.replaceAll(',', ''));
/** A sum as the page writes numbers, with as many decimals. */
function sumOf(one: string, other: string): string {
  const digits = Math.max(...[one, other].map((text) => text.split('.')[1]?.length ?? 0));
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: /,/.test(one + other) };
  return (numberIn(one) + numberIn(other)).toLocaleString('en-US', options);
}

type Counts = Readonly<Record<string, number>>;
export const words = (counts: Counts): string =>
  Object.entries(counts)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ') || '-';
/** Counts by kind, of all together. */
export function addedCounts(counts: readonly Counts[]): Counts {
  const all: Record<string, number> = {};
  for (const each of counts) for (const [kind, count] of Object.entries(each)) all[kind] = (all[kind] ?? 0) + count;
  return all;
}
/** The counts that `words` wrote, such as `killed 2, stopped 1`; a kind may have commas. Undefined: the cell is something else. */
function countsIn(cell: string): Counts | undefined {
  if (!/^[^\d;:]+ \d+(?:, [^\d;:]+ \d+)*$/.test(cell)) return undefined;
  const counts = Array.from(cell.matchAll(/([^\d;:]+?) (\d+)(?:, |$)/g), ([, kind, count]) => [kind!, Number(count)]);
  return Object.fromEntries(counts);
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
  if (one && other) return words(addedCounts([one, other]));
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
  return row(...cells);
};

export const row = (...cells: unknown[]): string => `| ${cells.join(' | ')} |`;
export const cellsOf = (line: string): string[] => line.slice(2, -2).split(' | ');

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
