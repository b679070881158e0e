import { setTimeout as sleep } from 'node:timers/promises';

/** ms between two looks at whether a group that was told to end has ended. */
const LOOK = 20;
/** ms that a killed group may take to be gone. It cannot refuse, but the kernel may be busy. */
const CLEARED = 2_000;

/** A command and all that it started, as far as they did not leave for a group of their own. */
export class ProcessGroup {
  /** Of the command, and by that of the group. */
  readonly pid: number;

  constructor(pid: number) {
    this.pid = pid;
  }

  /** Whether there was anybody to hear it. */
  signal(name: NodeJS.Signals | 0): boolean {
    // Windows has no groups.
    return (process.platform !== 'win32' && sent(-this.pid, name)) || sent(this.pid, name);
  }

  /** Asks it to end and, after `grace` ms, no longer asks. Settled when nobody of it is left. */
  async end(grace: number): Promise<void> {
    const last = performance.now() + grace;
    if (grace > 0) this.signal('SIGTERM');
    while (performance.now() < last && this.signal(0)) await sleep(Math.min(LOOK, last - performance.now()));
    const cleared = performance.now() + CLEARED;
    while (this.signal('SIGKILL') && performance.now() < cleared) await sleep(LOOK);
  }
}

function sent(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false; // it is gone
  }
}
