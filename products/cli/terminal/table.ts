import { stripVTControlCharacters, styleText } from 'node:util';
import { mostOf, visible } from '../../../src/core/index.ts';

/** Puts columns side by side, each as wide as it needs; cuts lines at `width`. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], width?: number): string[] {
  const cells = rows.map((row) => row.map((cell) => (cell.startsWith('\u001b') ? cell : visible(cell))));
  const widths = head.map((name, column) =>
    mostOf(
      cells.map((row) => columns(row[column]!)),
      columns(name),
    ),
  );
  const line = (row: readonly string[]): string => {
    const text = row.map((cell, column) => cell + ' '.repeat(widths[column]! - columns(cell))).join('  ');
    return cut(text.trimEnd(), width);
  };
  return [styleText('bold', line(head)), ...cells.map(line)];
}

/** Characters of East Asia and emoji are two columns wide (https://www.unicode.org/reports/tr11/). */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;

const columns = (text: string): number => {
  const shown = stripVTControlCharacters(text);
  return [...shown].length + (shown.match(WIDE)?.length ?? 0);
};

/** Cuts a line to `width`. A line that it cuts loses its colours. */
function cut(text: string, width = Number.POSITIVE_INFINITY): string {
  if (columns(text) <= width) return text;
  let start = '';
  for (const character of stripVTControlCharacters(text)) {
    if (columns(start + character) >= width) break;
    start += character;
  }
  return `${start}…`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** ms as people say it: `1.5s`, `12s`, `3m`, `2h`. */
export function span(ms: number): string {
  if (!Number.isFinite(ms)) return 'session';
  for (const [unit, length] of UNITS) if (ms >= length) return `${Math.floor(ms / length)}${unit}`;
  return ms >= 10_000 ? `${Math.round(ms / 1_000)}s` : `${Math.max(0, ms / 1_000).toFixed(1)}s`;
}
