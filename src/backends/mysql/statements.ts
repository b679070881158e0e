import type { Value } from './pool.ts';
import * as sql from './sql.generated.ts';

export type NamedValues = Readonly<Record<string, Value>>;

/** A statement with its values, as the driver takes it. */
export interface Bound {
  readonly sql: string;
  readonly values: Value[];
}

/** The text for `{list}` of a statement has a question mark for each value, since these values have no names. */
export interface List {
  readonly text: string;
  readonly values: readonly Value[];
}

/** Makes a statement with its values. @param list the values for `{list}` */
export type Bind = (values: NamedValues, list: readonly Value[]) => Bound;

const SHARED: Readonly<Record<string, string>> = sql;

/** Replaces each `{name}` by the part of that name; if there is none, by the statement of that name, filled in the same way. */
const filled = (text: string, parts: Readonly<Record<string, string>>): string =>
  bare(text).replace(/\{(\w+)\}/g, (_, part: string) => parts[part] ?? filled(SHARED[part]!, parts));

/** Makes a statement of a text, without its comments and with `?` for each `:name`. @param parts as for `filled` */
export function statement(text: string, parts: Readonly<Record<string, string>>): Bind {
  const names: string[] = [];
  const sql = filled(text, parts).replace(/:(\w+)|\?/g, (found, name?: string) => {
    names.push(name ?? found);
    return '?';
  });
  return (values, list) => {
    let next = 0;
    return { sql, values: names.map((name) => (name === '?' ? list[next++]! : values[name]!)) };
  };
}

/** Makes the text of a statement that takes no parameters: the text has the bytes of the values in hexadecimal. */
export function asText(text: string, parts: Readonly<Record<string, string>>, values: NamedValues): string {
  const bound = statement(text, parts)(values, []);
  let next = 0;
  return bound.sql.replaceAll('?', () => `X'${Buffer.from(bound.values[next++]!).toString('hex')}'`);
}

export const bare = (text: string): string =>
  text
    .replace(/^ *--.*$/gm, '')
    .replace(/\s+/g, ' ')
    .trim();

/** The most members of one list, if the caller sets no other limit. */
const MAX_MEMBERS = 64;

export function* portions<T>(all: readonly T[], size: number = MAX_MEMBERS): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
}

/** Repeats the last member until the length is a power of two: every connection keeps a prepared statement for each length. */
function pad<T>(members: readonly T[]): T[] {
  const length = 2 ** Math.ceil(Math.log2(members.length));
  return [...members, ...Array<T>(length - members.length).fill(members.at(-1)!)];
}

export function nameList(names: readonly Buffer[]): List {
  const values = pad(names);
  return { text: values.map(() => '?').join(', '), values };
}

const CLAIM = 'SELECT CAST(? AS BINARY) AS name, CAST(? AS BINARY) AS mark, CAST(? AS SIGNED) AS ttl';

/** @param claims name, mark and ttl of each */
export function claimsOf(claims: readonly (readonly [Buffer, string, string])[]): List {
  const values = pad(claims);
  return { text: values.map(() => CLAIM).join(' UNION ALL '), values: values.flat() };
}
