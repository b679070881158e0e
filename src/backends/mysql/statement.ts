import type { Value } from './pool.ts';
import { hash, now } from './sql.generated.ts';

/** A statement as the driver takes it: the file without its comments, `:name` become `?`. */
export interface Statement {
  readonly sql: string;
  readonly names: readonly string[];
}

/** @param parts what the file names in braces: the table, and lists as long as the call needs */
export function statement(text: string, parts: Readonly<Record<string, string>>): Statement {
  const names: string[] = [];
  const sql = bare(text)
    .replace(/\{(\w+)\}/g, (_, part: string) => parts[part] ?? bare(INCLUDES[part]!))
    .replace(/:(\w+)|\?/g, (found, name?: string) => {
      names.push(name ?? found);
      return '?';
    });
  return { sql, names };
}

/** Parts that several files share. */
const INCLUDES: Readonly<Record<string, string>> = { hash, now };

const bare = (text: string): string =>
  text
    .replace(/^ *--.*$/gm, '')
    .replace(/\s+/g, ' ')
    .trim();

/** The values in the order of the statement; those of its list, which have no names, in the order given. */
export function bind(
  names: readonly string[],
  values: Readonly<Record<string, Value>>,
  list: readonly Value[],
): Value[] {
  let next = 0;
  return names.map((name) => (name === '?' ? list[next++]! : values[name]!));
}

/** Most members of one statement's list. */
const LARGEST = 64;

export function* portions<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < list.length; from += LARGEST) yield list.slice(from, from + LARGEST);
}

/**
 * Filled up with its last member to a power of two: each length is a prepared statement of its own, kept per connection,
 * and there should be few of them.
 */
export function padded<T>(list: readonly T[]): readonly T[] {
  const length = 2 ** Math.ceil(Math.log2(list.length));
  return [...list, ...Array<T>(length - list.length).fill(list.at(-1)!)];
}

export const marks = (count: number): string => Array(count).fill('?').join(', ');

/** {claims} of touch.sql. */
export const claimRows = (count: number): string =>
  Array(count)
    .fill('SELECT CAST(? AS BINARY) AS name, CAST(? AS BINARY) AS mark, CAST(? AS SIGNED) AS ttl')
    .join(' UNION ALL ');
