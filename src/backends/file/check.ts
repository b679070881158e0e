import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finding } from '../../core/index.ts';
import type { Durability } from './store.ts';

/** With less free space, a log that grows for a while may fill the disk. */
const FREE_BYTES = 64 * 2 ** 20;

/** @param socket '' when this process has none */
export function findings(path: string, durability: Durability, socket: string): Finding[] {
  const found: Finding[] = [];
  const { bavail, bsize } = statfsSync(dirname(path));
  const free = bavail * bsize;
  if (free < FREE_BYTES) {
    found.push({
      severity: 'warning',
      code: 'disk-space',
      message: `${Math.floor(free / 2 ** 20)} MiB are free where the locks file is`,
      advice: 'free some space: on a full disk nothing can be locked, renewed or released',
    });
  }
  if (process.platform !== 'win32' && [path, dirname(path)].some(isOpen)) {
    found.push({
      severity: 'warning',
      code: 'permissions',
      message: 'other users may write the locks file, or replace it',
      advice: 'give the file mode 0600 and its directory mode 0700',
    });
  }
  if (socket === '') {
    found.push({
      severity: 'warning',
      code: 'no-bell',
      message: 'this process has no socket: it is not woken, and its death shows by expiry only',
      advice: 'choose a shorter path, or let this user make a private directory beside the file',
    });
  }
  if (durability === 'process') {
    found.push({
      severity: 'info',
      code: 'durability',
      message: 'a power cut may undo the last grants; the holds of that time end with it, and tokens still grow',
      advice: "durability: 'power' where grants must survive in the record",
    });
  }
  return found;
}

/** Other users may write it. In a directory with the sticky bit they may not replace files of others. */
function isOpen(path: string): boolean {
  const { mode } = statSync(path);
  return (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
}
