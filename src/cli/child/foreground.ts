import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';

/**
 * What the command may do with the terminal. `lend`: it has it while it runs. `input`: it may read what is typed, and no more,
 * since somebody beside us in a pipeline might want the rest (`… | less` would be stopped by its next key); the same where the input is
 * no terminal at all. `none`: we run in the background, and what is typed is for somebody else.
 */
export function terminalUse(): 'lend' | 'input' | 'none' {
  if (process.platform === 'win32' || !isatty(0)) return 'input';
  const [own, foreground] = jobOf();
  if (own !== foreground) return 'none';
  return isatty(1) ? 'lend' : 'input';
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
