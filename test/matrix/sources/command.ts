import { execFileSync } from 'node:child_process';

/** ms for one command: a compiler on a busy machine is slow. */
const PATIENCE = 30 * 60_000;

/** @returns what it printed */
export const run = (
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): string =>
  execFileSync(command, args, {
    ...options,
    encoding: 'utf8',
    timeout: PATIENCE,
    maxBuffer: 64e6,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** What a failed command said of it: the end of it, where the reason is. */
export function reasonOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr?.trim() || message).split('\n').slice(-3).join(' ');
}
