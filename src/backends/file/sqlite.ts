import type { DatabaseSync } from 'node:sqlite';
import { LockError } from '../../core/contract/errors.ts';

/** An import would end the program with a stack where a runtime has no SQLite. */
const sqlite = (): typeof import('node:sqlite') | undefined => process.getBuiltinModule?.('node:sqlite');

/** @throws LockError `LOCK_UNSUPPORTED` where the runtime has no SQLite */
export function checkSqlite(): void {
  if (sqlite()) return;
  const needed = 'use Node.js 22.13 or newer, built with SQLite and without --no-experimental-sqlite';
  throw new LockError('LOCK_UNSUPPORTED', `file() needs node:sqlite, which this runtime does not have: ${needed}`, {
    backend: 'file',
  });
}

export const openDatabase = (path: string): DatabaseSync => new (sqlite()!.DatabaseSync)(path);
