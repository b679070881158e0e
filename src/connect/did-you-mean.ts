import type { EngineUrl } from './engine.ts';

/**
 * The end of a sentence that says what somebody may have meant by an address that is none: a host and its port, the path of a file, or
 * a scheme that is misspelt. Empty where it could be anything. It shows no part of a URL that may be a password.
 */
export function didYouMean(href: unknown, engines: readonly EngineUrl[]): string {
  if (typeof href !== 'string') return '';
  const text = href.trim();
  const port = /^(?:[\w.-]+|\[[\da-f:]+\]):(\d{1,5})$/i.exec(text)?.[1];
  const byPort = port && engines.map(({ ports }) => ports?.[Number(port)]).find(Boolean);
  if (byPort) return `; did you mean ${byPort}://${text}?`;
  if (/^[\w./-]+\.(?:db|sqlite3?)$/.test(text)) return `; did you mean file:${text}?`;
  const scheme = /^([a-z][a-z0-9+]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  const meant =
    scheme &&
    nearest(
      scheme,
      engines.flatMap(({ schemes }) => schemes),
    );
  return meant ? `; did you mean ${meant}:?` : '';
}

/**
 * What somebody may have meant: the one of the names that the fewest letters tell from it, if these are few.
 * @example nearest('lits', ['list', 'show']) === 'list'
 */
export function nearest(text: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, far: name.startsWith(text) && text.length > 1 ? 0.5 : distance(text, name) }))
    .sort((a, b) => a.far - b.far);
  return best && best.far <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/** How many letters are missing, too many, others, or swapped with the next one. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const other = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          rows[i - 1]![j]! + 1,
          row[j - 1]! + 1,
          rows[i - 1]![j - 1]! + other,
          swapped ? rows[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
