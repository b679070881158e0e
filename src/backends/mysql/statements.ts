import type { Value } from './pool.ts';
import { hash, now, open, room } from './sql.generated.ts';

export type Values = Readonly<Record<string, Value>>;

/** A statement with its values, as the driver takes it. */
export interface Bound {
  readonly sql: string;
  readonly values: Value[];
}

/** {list} of a statement: as many question marks as there are values, which have no names. */
export interface List {
  readonly text: string;
  readonly values: readonly Value[];
}

export interface Statement {
  bind(values: Values, list: readonly Value[]): Bound;
}

/** Parts that several files share. */
const INCLUDES: Readonly<Record<string, string>> = { hash, now, open, room };

/** A file without its comments, `:name` turned into `?`. @param parts what it names in braces, beside the shared ones */
export function statement(text: string, parts: Readonly<Record<string, string>>): Statement {
  const names: string[] = [];
  const sql = bare(text)
    .replace(/\{(\w+)\}/g, (_, part: string) => parts[part] ?? bare(INCLUDES[part]!))
    .replace(/:(\w+)|\?/g, (found, name?: string) => {
      names.push(name ?? found);
      return '?';
    });
  return {
    bind(values, list) {
      let next = 0;
      return { sql, values: names.map((name) => (name === '?' ? list[next++]! : values[name]!)) };
    },
  };
}

export const bare = (text: string): string =>
  text
    .replace(/^ *--.*$/gm, '')
    .replace(/\s+/g, ' ')
    .trim();

/** Most members of one list, unless said otherwise. */
const LARGEST = 64;

export function* portions<T>(all: readonly T[], size: number = LARGEST): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
}

/**
 * Filled up with its last member to a power of two: each length is a prepared statement of its own, kept per connection,
 * and there should be few of them.
 */
function padded<T>(members: readonly T[]): T[] {
  const length = 2 ** Math.ceil(Math.log2(members.length));
  return [...members, ...Array<T>(length - members.length).fill(members.at(-1)!)];
}

export function namesOf(names: readonly Buffer[]): List {
  const values = padded(names);
  return { text: values.map(() => '?').join(', '), values };
}

const CLAIM = 'SELECT CAST(? AS BINARY) AS name, CAST(? AS BINARY) AS mark, CAST(? AS SIGNED) AS ttl';

/** @param claims name, mark and ttl of each */
export function claimsOf(claims: readonly (readonly [Buffer, string, string])[]): List {
  const values = padded(claims);
  return { text: values.map(() => CLAIM).join(' UNION ALL '), values: values.flat() };
}

/** The server's time as an expression, µs since 1970, whatever the time zone of the session. */
export const serverTime: string = bare(now);
