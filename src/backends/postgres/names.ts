import { ALL_SEATS } from '../../core/admission.ts';
import { checkPrefix } from '../../core/key.ts';

export interface Naming {
  /** Of every table, sequence and function; at most 40 of A–Z a–z 0–9 _ . : - (default `holdfast`). */
  readonly prefix?: string;
  /** Where they are; at most 63 of the same (default `public`). */
  readonly schema?: string;
}

/** PostgreSQL cuts identifiers at 63 bytes without a word: what follows the prefix has to fit too. */
const PREFIX = /^[A-Za-z0-9_.:-]{1,40}$/;
const SCHEMA = /^[A-Za-z0-9_.:-]{1,63}$/;

/**
 * Fills in the names of a script. None of the characters allowed could end a quoted identifier, a literal or a function
 * body, so the result is the script, whatever the names.
 * @throws LockError `LOCK_INVALID`.
 */
export function naming({ prefix = 'holdfast', schema = 'public' }: Naming): (script: string) => string {
  checkPrefix(prefix, PREFIX);
  checkPrefix(schema, SCHEMA);
  return (script) =>
    script
      .replaceAll('{seats}', String(ALL_SEATS))
      .replaceAll('{schema}', `"${schema}"`)
      .replace(/\{=(\w+)\}/g, (_, name) => `"${prefix}_${name}"`)
      .replace(/\{(\w+)\}/g, (_, name) => `"${schema}"."${prefix}_${name}"`);
}
