import type { AnyLease } from '../../core/queue/lease.ts';
import { EXIT } from '../exit.ts';
import { complain } from '../terminal/screen.ts';
import type { ProcessGroup } from './group.ts';
import { guard } from './guard.ts';
import { Signals } from './signals.ts';
import { start } from './start.ts';
import type { Timing } from './timing.ts';

/** After so many ms the user learns why the lock is still held, though the command has ended. */
const TOLD = 1_000;
const STILL_RUNS =
  'the command has ended, but processes that it started still run; the lock is held until they end (see --leave-running)';

/**
 * Runs a command while the lease is held. If the lease is lost, it ends the command, and all that the command started, before
 * anyone else can have the lock.
 * @param own variables of the command, beside those of this process
 * @param ways `leaveRunning`: release the lock when the command has ended, though something that it started still runs. `out`: the
 * descriptor of its standard output; default that of this process
 * @returns the command's exit code; never 0 if the lease was lost
 */
export async function supervise(
  lease: Pick<AnyLease, 'signal' | 'held' | 'remaining'>,
  words: readonly string[],
  own: NodeJS.ProcessEnv,
  { grace, spare }: Timing,
  { leaveRunning = false, out = 1 }: { readonly leaveRunning?: boolean | undefined; readonly out?: number } = {},
): Promise<number> {
  using signals = new Signals(); // before the command: no signal may end us and leave the command behind
  const { group, exited, go } = await start(words, { ...process.env, ...own }, out);
  const dismiss = await guard(group.pid);
  signals.passTo(group);
  go();
  try {
    const over = leaveRunning ? exited : exited.then(() => remaining(group, lease.signal));
    await Promise.race([over, loss(lease.signal)]);
    if (lease.signal.aborted) {
      complain(lease.signal.reason.message);
      await group.end(Math.min(grace, lease.remaining - spare));
    }
    const code = await exited;
    return lease.signal.aborted || !lease.held ? code || EXIT.UNAVAILABLE : code;
  } finally {
    dismiss();
  }
}

/** Resolves when all that the command left running in its group has ended. */
async function remaining(group: ProcessGroup, lost: AbortSignal): Promise<void> {
  const told = setTimeout(() => complain(STILL_RUNS), TOLD);
  await group.waitForEnd(lost);
  clearTimeout(told);
}

const loss = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
