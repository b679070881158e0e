import type { AnyLease } from '../../core/lease.ts';
import { EXIT } from '../exit.ts';
import type { ProcessGroup } from './group.ts';
import { guard } from './guard.ts';
import { Signals } from './signals.ts';
import type { Started } from './start.ts';
import type { Timing } from './timing.ts';

/** ms after which it is told why the lock is still kept, though the command has ended. */
const TOLD = 1_000;

export interface Supervision {
  readonly timing: Timing;
  /** Give the lock back when the command has ended, though something that it started still runs. */
  readonly leaveRunning: boolean;
  readonly tell: (message: string) => void;
}

/**
 * Lets a command run while the lease is held, and ends it, with all it started, before the lease could be somebody else's.
 * @returns its exit code; never 0 when the lease was lost meanwhile
 */
export async function supervise(
  lease: Pick<AnyLease, 'signal' | 'held' | 'remaining'>,
  start: () => Promise<Started>,
  { timing: { grace, spare }, leaveRunning, tell }: Supervision,
): Promise<number> {
  using signals = new Signals(); // before the command is there: none may end us and leave it behind
  const { group, exited, go } = await start();
  const dismiss = await guard(group.pid);
  signals.passTo(group);
  go();
  try {
    const over = leaveRunning ? exited : exited.then(() => remaining(group, lease.signal, tell));
    await Promise.race([over, loss(lease.signal)]);
    if (lease.signal.aborted) {
      tell(lease.signal.reason.message);
      await group.end(Math.min(grace, lease.remaining - spare));
    }
    const code = await exited;
    return lease.signal.aborted || !lease.held ? code || EXIT.UNAVAILABLE : code;
  } finally {
    dismiss();
  }
}

/** Settled when all that the command has left running in its group has ended. */
async function remaining(group: ProcessGroup, lost: AbortSignal, tell: Supervision['tell']): Promise<void> {
  const told = setTimeout(() => {
    tell(
      'the command has ended, but what it started still runs; the lock is kept until that ends, too (--leave-running)',
    );
  }, TOLD);
  await group.ended(lost);
  clearTimeout(told);
}

const loss = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
