import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type FileOptions, file } from '../../../src/backends/file/index.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { temporaryFolder } from '../../kit/folder.ts';

/** A locks file in a folder of its own, and those who use it. */
export class LocksFile implements AsyncDisposable {
  readonly path: string;
  readonly #folder = temporaryFolder();
  readonly #users: Locks[] = [];

  constructor(...names: readonly string[]) {
    this.path = join(this.#folder.path, ...(names.length > 0 ? names : ['locks.db']));
  }

  get folder(): string {
    return this.#folder.path;
  }

  /** Where the sockets are, as long as the path is not too long for them. */
  get sockets(): string {
    return `${this.path}-sockets`;
  }

  /** One more user, as another process would be one. */
  open(options: Partial<FileOptions> = {}): Locks {
    const locks = createLocks(file({ path: this.path, ...options }));
    this.#users.push(locks);
    return locks;
  }

  /** Does to the file what only another program could. */
  tamper<T>(work: (db: DatabaseSync) => T): T {
    const db = new DatabaseSync(this.path);
    try {
      return work(db);
    } finally {
      db.close();
    }
  }

  /** How many claims are in it, whether they have expired or not. */
  claims(): number {
    return this.tamper((db) => Number(db.prepare('SELECT count(*) AS count FROM claim').get()!.count));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const locks of this.#users) await locks.close();
    this.#folder[Symbol.dispose]();
  }
}

/** Takes and gives back. */
export const token = (locks: Locks, key = 'k'): Promise<bigint> => locks.mutex(key).run((lease) => lease.token);

/** How many stand in line for a key, holders included. */
export async function length(locks: Locks, key = 'k'): Promise<number> {
  let count = 0;
  for await (const _ of locks.inspect(key)) count++;
  return count;
}
