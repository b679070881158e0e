import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { atExit } from './cleanup.ts';
import type { Account } from './folder.ts';
import { find } from './programs.ts';
import { settleWithin } from './wait.ts';

export interface ChildPlan {
  readonly command: string;
  readonly args: readonly string[];
  /** Where its output goes. A file, not a pipe: nobody has to read it, and it is there after both have died. */
  readonly log: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly account?: Account;
  /** Opens an IPC channel. */
  readonly ipc?: boolean;
}

/** A child process that never outlives this one. */
export class Child {
  readonly process: ChildProcess;
  readonly exited: Promise<string>;
  readonly #log: string;
  #end?: string;

  constructor({ command, args, log, ipc, account, ...options }: ChildPlan) {
    this.#log = log;
    const output = openSync(log, 'a');
    // An exit handler does not run after kill −9; on Linux the kernel then ends the child.
    const guard = find('setpriv');
    const [file, argv] = guard ? [guard, ['--pdeathsig', 'KILL', '--', command, ...args]] : [command, args];
    const stdio: SpawnOptions['stdio'] = ['ignore', output, output, ...(ipc ? ['ipc' as const] : [])];
    this.process = spawn(file, argv, { ...options, ...account, stdio, serialization: 'advanced' });
    closeSync(output);
    const forget = atExit(() => this.process.kill('SIGKILL'));
    this.exited = new Promise((resolve) => {
      const ended = (how: string): void => {
        forget();
        this.#end = how;
        resolve(how);
      };
      this.process.on('error', (error) => {
        // Else it was a message or a signal that came too late.
        if (this.process.pid === undefined) ended(`could not be started: ${error.message}`);
      });
      this.process.once('exit', (code, signal) =>
        ended(signal ? `ended by ${signal}` : `ended with exit code ${code}`),
      );
    });
  }

  get pid(): number {
    return this.process.pid ?? Number.NaN;
  }

  /** How it ended; undefined while it lives. */
  get end(): string | undefined {
    return this.#end;
  }

  /** The last of what it printed. */
  get output(): string {
    return readFileSync(this.#log, 'utf8').slice(-4_000).trim();
  }

  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  /** Sends `name`, and SIGKILL if it has not ended after `within` ms. */
  async stop(name: NodeJS.Signals, within = 10_000): Promise<void> {
    if (this.#end !== undefined) return;
    this.signal(name);
    // A stopped process takes other signals only when it goes on.
    if (name !== 'SIGKILL') this.signal('SIGCONT');
    await settleWithin(`process ${this.pid} ends after ${name}`, this.exited, within).catch(() =>
      this.signal('SIGKILL'),
    );
    await settleWithin(`process ${this.pid} ends after SIGKILL`, this.exited);
  }
}
