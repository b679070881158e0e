import type { Remembered } from '../../core/contract/backend.ts';
import { type KeyRecord, overAt, readRecord, rememberedIn, writeRecord } from '../shared/record.ts';
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

  look(): Remembered {
    return rememberedIn(this.read(), this.#now);
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
