import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The first pause between two checks whether a group has ended, ms. Each next pause is twice as long, up to `MAX_PAUSE_MS`. */
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;
/** How long a killed group may take to go away, ms: the kernel may be busy. */
const MAX_CLEARING_MS = 2_000;

/** A command and all processes that it started, except those that moved to another group. */
export class ProcessGroup {
  /** The process id of the command, and the id of the group. */
  readonly pid: number;

  constructor(pid: number) {
    this.pid = pid;
  }

  /** @returns whether any process got the signal */
  signal(name: NodeJS.Signals | 0): boolean {
    // Windows has no groups.
    return (process.platform !== 'win32' && send(-this.pid, name)) || send(this.pid, name);
  }

  get runs(): boolean {
    return this.signal(0) && (process.platform !== 'linux' || anyAlive(this.pid));
  }

  async waitForEnd(stop: AbortSignal): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; this.runs && !stop.aborted; pause = Math.min(pause * 2, MAX_PAUSE_MS))
      await sleep(pause, undefined, { signal: stop }).catch(() => {});
  }

  /** Asks the group to end, and kills it after `grace` ms. Resolves when it is gone. */
  async end(grace: number): Promise<void> {
    const last = performance.now() + grace;
    if (grace > 0) this.signal('SIGTERM');
    while (performance.now() < last && this.runs) await sleep(Math.min(FIRST_PAUSE_MS, last - performance.now()));
    const cleared = performance.now() + MAX_CLEARING_MS;
    while (this.signal('SIGKILL') && this.runs && performance.now() < cleared) await sleep(FIRST_PAUSE_MS);
  }
}

function send(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false; // the process is gone
  }
}

/** proc(5): state, ppid, pgrp, session, tty, tpgid and more. The name before them is in brackets, and may contain anything. */
export function statOf(pid: string): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/**
 * Asks for the state: a process still takes signals after its end, until its parent asks for the exit code. If the first process
 * of a container never asks, that is for ever.
 */
function anyAlive(group: number): boolean {
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const [state, , pgrp] = statOf(pid);
      return pgrp === `${group}` && state !== 'Z' && state !== 'X';
    } catch {
      return false; // the process ended meanwhile
    }
  });
}
