import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AnyLease } from '../../../src/core/index.ts';
import { EXIT, messageOf } from '../exit.ts';
import { complain } from '../terminal/screen.ts';
import { shellOn } from './find.ts';
import type { ProcessGroup } from './group.ts';
import { notIgnored } from './inherited.ts';
import { start } from './start.ts';
import type { Timing } from './timing.ts';

/** `read` fails if the other end of the pipe closes without a line: then the process that held the lock is gone. */
const GUARD = 'read -r over || kill -s KILL -- "-$1"';

/**
 * Starts a guard, which kills the group if this process dies by kill −9, for example. The guard is only as fast as the system.
 * It runs when the promise resolves, and the command must not begin earlier.
 * @returns a function that dismisses the guard
 */
async function guard(group: number): Promise<() => void> {
  if (process.platform === 'win32') return () => {};
  // The guard has its own session, so that what kills this process does not kill the guard.
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

/** Signals from a user or the system that are meant for the command. */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'] as const;
/** ^Z: in a pipeline it would stop only us. Then nobody renews the lease, and the command runs past its end. */
const REFUSED = 'SIGTSTP';

const ignore = (): void => {};

/** Passes signals to the command. It keeps early signals until the command is there. Ignored signals stay ignored. */
class Signals implements Disposable {
  readonly #early: NodeJS.Signals[] = [];
  #group: ProcessGroup | undefined;
  readonly #hear = (name: NodeJS.Signals): void => {
    if (this.#group) this.#group.signal(name);
    else this.#early.push(name);
  };

  constructor() {
    for (const name of notIgnored(PASSED_ON)) process.on(name, this.#hear);
    process.on(REFUSED, ignore);
  }

  passTo(group: ProcessGroup): void {
    this.#group = group;
    for (const name of this.#early) group.signal(name);
  }

  [Symbol.dispose](): void {
    for (const name of PASSED_ON) process.off(name, this.#hear);
    process.off(REFUSED, ignore);
  }
}

/** How long after the end of the command the user learns why the lock is still held, ms. */
const EXPLAINED_AFTER_MS = 1_000;
const STILL_RUNS =
  'the command has ended, but processes that it started still run; the lock is held until they end (see --leave-running)';

/**
 * Runs a command while the lease is held. After a loss the command never begins. If the lease is lost meanwhile, it ends the command, and all
 * that the command started, before another holder can have the lock.
 * @param own variables of the command, in addition to the variables of this process
 * @param ways `leaveRunning`: release the lock when the command has ended, even if a process that it started still runs. `out`: the
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
  using signals = new Signals(); // made before the command: no signal may end us and leave the command behind
  const { group, exited, go } = await start(words, { ...process.env, ...own }, out);
  const dismiss = await guard(group.pid);
  signals.passTo(group);
  try {
    if (lease.signal.aborted || !lease.held) {
      complain('the lock was lost before the command began');
      await group.end(0);
      await exited;
      return EXIT.UNAVAILABLE;
    }
    go();
    const over = leaveRunning ? exited : exited.then(() => remaining(group, lease.signal));
    await Promise.race([over, loss(lease.signal)]);
    if (lease.signal.aborted) {
      complain(messageOf(lease.signal.reason));
      await group.end(Math.min(grace, lease.remaining - spare));
    }
    const code = await exited;
    return lease.signal.aborted || !lease.held ? code || EXIT.UNAVAILABLE : code;
  } finally {
    dismiss();
  }
}

async function remaining(group: ProcessGroup, lost: AbortSignal): Promise<void> {
  const explained = setTimeout(() => complain(STILL_RUNS), EXPLAINED_AFTER_MS);
  await group.waitForEnd(lost);
  clearTimeout(explained);
}

const loss = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
