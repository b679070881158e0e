import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** `read` fails when the other end of the pipe is gone without a word: then so is the one who kept the lock. */
const GUARD = 'read -r over || kill -s KILL -- "-$1"';

/**
 * Ends the group if this process dies without a chance to do it, by kill −9 for example. It is as fast as the system is,
 * and no faster. It stands when the promise is settled: the command must not begin before.
 * @returns dismisses the guard
 */
export async function guard(group: number): Promise<() => void> {
  if (process.platform === 'win32') return () => {};
  // In a session of its own, so that what ends this process does not end it, too.
  const child = spawn('sh', ['-c', GUARD, 'holdfast-guard', `${group}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: {},
  });
  child.stdin.on('error', () => {});
  child.unref();
  await once(child, 'spawn').catch(() => {}); // without a shell there is no guard, and no command either
  return () => child.stdin.end('over\n');
}
