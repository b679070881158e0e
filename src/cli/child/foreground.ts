import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';

/**
 * Whether the child may be given the terminal: we have it, and nobody beside us in a pipeline might want it (`… | less`
 * would be stopped by its next key).
 */
export function mayLendTerminal(): boolean {
  if (process.platform === 'win32' || !isatty(0) || !isatty(1)) return false;
  const [own, foreground] = jobOf();
  return own === foreground;
}

/** Our process group, and the one that the terminal listens to. */
function jobOf(): [own: string, foreground: string] {
  try {
    // proc(5): the name, in brackets, may contain anything; behind it stand state, ppid, pgrp, session, tty, tpgid.
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [fields[2]!, fields[5]!];
  } catch {
    const { stdout } = spawnSync('ps', ['-o', 'pgid=', '-o', 'tpgid=', '-p', `${process.pid}`], { encoding: 'utf8' });
    const [own = '', foreground = 'none'] = (stdout ?? '').trim().split(/\s+/);
    return [own, foreground];
  }
}
