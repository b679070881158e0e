import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** Linux has a file system in memory here. */
const IN_MEMORY = '/dev/shm';
/** The files of all tests that run at a time need a part of this, bytes. */
export const NEEDED = 8 * 2 ** 30;

/**
 * Where tests and their servers keep files: in memory, if there is enough. Databases flush each write, and one disk under several of them may not
 * answer for a second. Then a lease of a test ends, as it should. `TMPDIR`, if it is set, is left as it is.
 * @param free the bytes that are free in a folder and in the memory of this machine; throws if there is no such folder
 */
export function dataFolder(
  { TMPDIR }: Readonly<Record<string, string | undefined>> = process.env,
  free: (folder: string) => number = freeIn,
): string {
  if (TMPDIR) return TMPDIR;
  try {
    return free(IN_MEMORY) >= NEEDED ? IN_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

function freeIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(bavail * bsize, process.availableMemory());
}
