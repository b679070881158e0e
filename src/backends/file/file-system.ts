import { statfsSync } from 'node:fs';
import { said } from './machine.ts';

/** The magic numbers of Linux's statfs(2) for file systems that live on another machine. */
const NETWORK: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4266872130: 'SMB',
  4283649346: 'CIFS',
  1397113167: 'AFS',
  16914839: '9P',
  12805120: 'Ceph',
  198183888: 'Lustre',
  18225520: 'GFS2',
  1952539503: 'OCFS2',
};

/** The name of the network file system that `directory` is on; undefined on a local one, and where that cannot be told. */
export function networkOf(directory: string): string | undefined {
  return process.platform === 'linux' ? NETWORK[statfsSync(directory).type >>> 0] : undefined;
}

/**
 * Whether this very file is mounted, as containers are given single files. Its log and its locks, which SQLite keeps under
 * the name of the file, are then not those of who has it under another name: https://sqlite.org/howtocorrupt.html, 2.3
 */
export function isMounted(path: string): boolean {
  const point = path.replace(/[ \t\n\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return said('/proc/self/mountinfo')
    .split('\n')
    .some((mount) => mount.split(' ')[4] === point);
}

/** Bytes that this user may still write there. */
export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}
