import { spawnSync } from 'node:child_process';
import { isatty } from 'node:tty';
import { statOf } from './group.ts';

/**
 * What the command may do with the terminal. `lend`: it has the terminal while it runs. `input`: it may only read what the user
 * types, since another program of the pipeline may need the rest (`… | less` would stop at its next key). It is the same if the
 * input is no terminal. `none`: we run in the background, and what the user types is for another program.
 */
export function terminalUse(): 'lend' | 'input' | 'none' {
  if (process.platform === 'win32' || !isatty(0)) return 'input';
  const [own, foreground] = jobOf();
  if (own !== foreground) return 'none';
  return isatty(1) ? 'lend' : 'input';
}

/** Our process group, and the group in the foreground of the terminal. */
function jobOf(): [own: string, foreground: string] {
  try {
    const [, , own, , , foreground] = statOf('self');
    return [own!, foreground!];
  } catch {
    const { stdout } = spawnSync('ps', ['-o', 'pgid=', '-o', 'tpgid=', '-p', `${process.pid}`], { encoding: 'utf8' });
    const [own = '', foreground = 'none'] = (stdout ?? '').trim().split(/\s+/);
    return [own, foreground];
  }
}
