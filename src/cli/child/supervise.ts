import type { AnyLease } from '../../core/lease.ts';
import type { ProcessGroup } from './group.ts';
import { guard } from './guard.ts';
import type { Started } from './start.ts';
import type { Timing } from './timing.ts';

/**
 * Lets a command run while the lease is held, and ends it, with all it started, before the lease could be somebody else's.
 * @param lost told when that happens
 * @returns its exit code
 */
export async function supervise(
  lease: AnyLease,
  start: () => Promise<Started>,
  { grace, spare }: Timing,
  lost: (reason: Error) => void,
): Promise<number> {
  using signals = new Signals(); // before the command is there: none may end us and leave it behind
  const { group, exited } = await start();
  const dismiss = guard(group.pid);
  signals.passTo(group);
  try {
    await Promise.race([exited, loss(lease.signal)]);
    if (lease.signal.aborted) {
      lost(lease.signal.reason);
      await group.end(Math.min(grace, lease.remaining - spare));
    }
    return await exited;
  } finally {
    dismiss();
  }
}

const loss = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** What a user or a system tells a process, and what therefore is for the command. */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'] as const;
/** ^Z: in a pipeline it would stop us alone, and the command would run on past the lease. */
const REFUSED = 'SIGTSTP';

const ignore = (): void => {};

/** Keeps what comes until there is a command to hear it. */
class Signals implements Disposable {
  readonly #early: NodeJS.Signals[] = [];
  #group: ProcessGroup | undefined;
  readonly #hear = (name: NodeJS.Signals): void => {
    if (this.#group) this.#group.signal(name);
    else this.#early.push(name);
  };

  constructor() {
    for (const name of PASSED_ON) process.on(name, this.#hear);
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
