import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { shellOn } from './find.ts';

/** `read` fails if the other end of the pipe closes without a line: then the process that held the lock is gone. */
const GUARD = 'read -r over || kill -s KILL -- "-$1"';

/**
 * Kills the group if this process dies without a chance to do that itself, by kill −9 for example. It is only as fast as the
 * system. The guard stands when the promise resolves, and the command must not begin earlier.
 * @returns dismisses the guard
 */
export async function guard(group: number): Promise<() => void> {
  if (process.platform === 'win32') return () => {};
  // In a session of its own, so that what kills this process does not kill the guard.
  const [shell] = shellOn();
  const child = spawn(shell, ['-c', GUARD, 'holdfast-guard', `${group}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: {},
  });
  child.stdin.on('error', () => {});
  child.unref();
  await once(child, 'spawn').catch(() => {});
  return () => child.stdin.end('over\n');
}
