import { readFileSync, statfsSync } from 'node:fs';

/** The text of a file of the system; '' if there is none. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The shift of the monotonic clock in the time namespace of this process (Linux only), ms. */
function shift(): number {
  const [, seconds, nanoseconds] = /^monotonic\s+(\S+)\s+(\S+)/m.exec(textOf('/proc/self/timens_offsets')) ?? [];
  return Number(seconds ?? 0) * 1_000 + Number(nanoseconds ?? 0) / 1e6;
}
const SHIFT = shift();

/**
 * ms of a clock that all processes of this machine share and nobody can set: `CLOCK_MONOTONIC` of the first time namespace on Linux,
 * the performance counter on Windows, `mach_continuous_time` on macOS. It starts from zero when the machine starts.
 */
export function machineTime(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6 - SHIFT;
}

/** The id of this boot of the machine; '' where the system gives none. Without an id, stored times that lie in the future show a reboot. */
export const machineBoot = (): string => textOf('/proc/sys/kernel/random/boot_id').trim();

/** The magic numbers of network file systems in Linux's statfs(2). */
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

/** The network file system of `directory`; undefined for a local one, and where this is not known. */
export function networkOf(directory: string): string | undefined {
  return process.platform === 'linux' ? NETWORK[statfsSync(directory).type >>> 0] : undefined;
}

/**
 * Whether this file is mounted alone, without its directory, as containers may do. SQLite names its log and its locks after the file. So
 * a process that sees the file under another name would have another log and other locks: https://sqlite.org/howtocorrupt.html, 2.3
 */
export function isMounted(path: string): boolean {
  const point = path.replace(/[ \t\n\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return textOf('/proc/self/mountinfo')
    .split('\n')
    .some((mount) => mount.split(' ')[4] === point);
}
