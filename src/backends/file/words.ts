import type { ValueRecord } from '../../core/contract/backend.ts';
import { type KeyRecord, overAt, readRecord, rememberedIn as toldOf, writeRecord } from '../shared/record.ts';
import type { Statements } from './statements.ts';

/** The words under one key, within one transaction. */
export class KeyWords {
  readonly #sql: Statements;
  readonly #name: Uint8Array;
  readonly #now: number;

  constructor(sql: Statements, name: Uint8Array, now: number) {
    this.#sql = sql;
    this.#name = name;
    this.#now = now;
  }

  look(): ValueRecord {
    return toldOf(this.read(), this.#now);
  }

  /** @throws LockError `LOCK_INVALID` for a format that this version does not know */
  read(): KeyRecord | undefined {
    const row = this.#sql.word.get(this.#name, this.#now);
    return row && readRecord(Buffer.from(row.record as Uint8Array).toString());
  }

  /** Removes some that are over, too. */
  write(record: KeyRecord): void {
    this.#sql.overWords.run(this.#now);
    this.#sql.keepWord.run(this.#name, Buffer.from(writeRecord(record)), overAt(record));
  }

  /** Whether there were any. */
  forget(): boolean {
    return this.#sql.forgetWord.run(this.#name).changes > 0;
  }
}

/** The stored names of all keys that begin with `start`, or of that key, and where in a name the key begins. */
export interface NameRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  readonly start: number;
}

export function rangeOf(prefix: string, start: string, exact = false): NameRange {
  const from = Buffer.from(`${prefix}/${start}`);
  // No byte of UTF-8 is 0xff.
  return { from, to: Buffer.concat([from, Uint8Array.of(exact ? 0 : 0xff)]), start: Buffer.byteLength(prefix) + 1 };
}

/** The keys under which something is left. */
export function rememberedIn(sql: Statements, { from, to, start }: NameRange, now: number): string[] {
  const rows = sql.wordNames.all(from, to, now) as unknown as { readonly name: Uint8Array }[];
  return rows.map(({ name }) => Buffer.from(name).toString('utf8', start));
}
