import type { AnyLease } from '../../core/lease.ts';
import { guard } from './guard.ts';
import type { Started } from './start.ts';

/** What a user or a system tells a process, and what therefore is for the command. */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'] as const;

/** How a command under a lock is ended in time. */
export interface Ending {
  /** ms between the request to end and the kill. */
  readonly grace: number;
  /** ms that the last kill stands before the deadline. */
  readonly spare: number;
}

/**
 * Lets a command run while the lease is held, and ends it, with all it started, before the lease could be somebody else's.
 * @param lost told when that happens
 * @returns its exit code
 */
export async function supervise(
  lease: AnyLease,
  { group, exited }: Started,
  { grace, spare }: Ending,
  lost: (reason: Error) => void,
): Promise<number> {
  const dismiss = guard(group.pid);
  const passOn = (name: NodeJS.Signals): void => void group.signal(name);
  for (const name of PASSED_ON) process.on(name, passOn);
  const { signal } = lease;
  const loss = Promise.withResolvers<void>();
  const lose = (): void => loss.resolve();
  signal.addEventListener('abort', lose);
  if (signal.aborted) lose();
  try {
    await Promise.race([exited, loss.promise]);
    if (signal.aborted) {
      lost(signal.reason);
      await group.end(Math.min(grace, lease.remaining - spare));
    }
    return await exited;
  } finally {
    signal.removeEventListener('abort', lose);
    for (const name of PASSED_ON) process.off(name, passOn);
    dismiss();
  }
}
