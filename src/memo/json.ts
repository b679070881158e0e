import { hash } from 'node:crypto';
import { invalid } from '../core/contract/errors.ts';
import { NO_MARK } from '../core/contract/left.ts';

/**
 * A value as JSON that gives the same value again. `undefined` by itself is the empty text.
 * @throws TypeError naming the place of what JSON would change or leave out
 */
export function toJson(value: unknown): string {
  if (value === undefined) return '';
  check(value, 'the value', new Set());
  return JSON.stringify(value);
}

/** The value of such a text. */
export const fromJson = (text: string): unknown => (text === '' ? undefined : JSON.parse(text));

/** JSON with the members of objects in one order, for fingerprints. @throws TypeError as `toJson` */
function canonicalJson(value: unknown): string {
  check(value, 'match', new Set());
  return JSON.stringify(value, (_, member: unknown) =>
    isPlain(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}

/** The mark by which two requests are compared. @throws LockError `LOCK_INVALID` for what JSON would change */
export function fingerprint(match: unknown, key: string): string {
  if (match === undefined) return NO_MARK;
  try {
    return hash('sha256', canonicalJson(match));
  } catch (error) {
    throw invalid(`match cannot be compared: ${(error as Error).message}`, key);
  }
}

const isPlain = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

function check(value: unknown, at: string, around: Set<unknown>): void {
  if (value === null || typeof value === 'boolean') return;
  if (typeof value === 'string' && value.isWellFormed()) return;
  if (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)) return;
  if (around.has(value)) throw new TypeError(`${at} contains itself`);
  if (Array.isArray(value)) {
    around.add(value);
    for (let i = 0; i < value.length; i++) check(value[i], `${at}[${i}]`, around);
    around.delete(value);
    return;
  }
  if (!isPlain(value) || 'toJSON' in value)
    throw new TypeError(`${at} is ${said(value)}, which JSON does not keep as it is`);
  around.add(value);
  for (const [name, member] of Object.entries(value)) check(member, `${at}.${name}`, around);
  around.delete(value);
}

function said(value: unknown): string {
  if (typeof value === 'string') return 'text that is not well-formed';
  if (typeof value === 'object' && value !== null) return `a ${value.constructor?.name ?? 'object of another kind'}`;
  return typeof value === 'number' ? String(value) : `a ${typeof value}`;
}
