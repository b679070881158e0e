import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from './cleanup.ts';

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface Folder extends Disposable {
  readonly path: string;
}

/** A new folder, removed at the end. Its path is short: a unix socket in it may have 107 bytes. */
export function temporaryFolder(owner?: Account): Folder {
  const path = mkdtempSync(join(tmpdir(), 'hf-'));
  if (owner) chownSync(path, owner.uid, owner.gid);
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  const forget = atExit(remove);
  return {
    path,
    [Symbol.dispose]() {
      forget();
      remove();
    },
  };
}
