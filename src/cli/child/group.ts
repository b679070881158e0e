import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** ms between two looks at whether a group has ended: the first, doubled up to the last. */
const FIRST_LOOK = 20;
const LAST_LOOK = 500;
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

  /** Whether any of it still runs. */
  get runs(): boolean {
    return this.signal(0) && (process.platform !== 'linux' || anyAlive(this.pid));
  }

  /** Settled when nobody of it is left, or `stop` is aborted. */
  async ended(stop: AbortSignal): Promise<void> {
    for (let pause = FIRST_LOOK; this.runs && !stop.aborted; pause = Math.min(pause * 2, LAST_LOOK))
      await sleep(pause, undefined, { signal: stop }).catch(() => {});
  }

  /** Asks it to end and, after `grace` ms, no longer asks. Settled when nobody of it is left. */
  async end(grace: number): Promise<void> {
    const last = performance.now() + grace;
    if (grace > 0) this.signal('SIGTERM');
    while (performance.now() < last && this.runs) await sleep(Math.min(FIRST_LOOK, last - performance.now()));
    const cleared = performance.now() + CLEARED;
    while (this.signal('SIGKILL') && this.runs && performance.now() < cleared) await sleep(FIRST_LOOK);
  }
}

function sent(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false; // it is gone
  }
}

/**
 * A process that has ended, and that nobody has asked for its exit code, still hears signals; in a container whose first process
 * asks for none it does so for ever. proc(5) knows: behind the name, in brackets, stand state, ppid and pgrp.
 */
function anyAlive(group: number): boolean {
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return pgrp === `${group}` && state !== 'Z' && state !== 'X';
    } catch {
      return false; // it ended meanwhile
    }
  });
}
