import { type ChildProcessWithoutNullStreams, type SpawnOptionsWithoutStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../kit/folder.ts';
import { find } from '../kit/programs.ts';
import { settleWithin, until } from '../kit/wait.ts';

export const MAIN = fileURLToPath(new URL('../../products/cli/main.ts', import.meta.url));

/** Whether there is util-linux's `script`, which gives a command a terminal; others have other options. */
export const hasTerminal: boolean = process.platform === 'linux' && find('script') !== undefined;

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process whose output is kept. */
export class Shell implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Outcome>;
  stdout = '';
  stderr = '';

  constructor(file: string, args: readonly string[], options: SpawnOptionsWithoutStdio) {
    this.child = spawn(file, args, options);
    this.child.stdout.on('data', (data) => {
      this.stdout += data;
    });
    this.child.stderr.on('data', (data) => {
      this.stderr += data;
    });
    this.child.stdin.on('error', () => {}); // it may end without reading
    this.ended = once(this.child, 'close').then(([code]) => ({ code, stdout: this.stdout, stderr: this.stderr }));
  }

  /** Settled when it has printed this. */
  async prints(text: string | RegExp, within?: number): Promise<void> {
    const there = (): boolean => (typeof text === 'string' ? this.stdout.includes(text) : text.test(this.stdout));
    await until(`it prints ${text}`, there, within).catch((error) => {
      throw new Error(`${error.message}. It printed:\n${this.stdout}${this.stderr}`);
    });
  }

  end(within?: number): Promise<Outcome> {
    return settleWithin(`the command ends; it printed ${this.stdout}${this.stderr}`, this.ended, within);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGTERM');
    await this.end().catch(() => this.child.kill('SIGKILL'));
  }
}

/** The command line as one user has it: with a folder for the default engine. */
export class Desk implements Disposable {
  readonly #folder = temporaryFolder();
  readonly env: NodeJS.ProcessEnv;

  constructor(env: NodeJS.ProcessEnv = {}) {
    const { HOLDFAST_URL: _, ...rest } = process.env;
    this.env = { ...rest, XDG_STATE_HOME: this.#folder.path, NODE_OPTIONS: '', NO_COLOR: '1', ...env };
  }

  get folder(): string {
    return this.#folder.path;
  }

  start(...args: readonly string[]): Shell {
    return new Shell(process.execPath, [MAIN, ...args], { env: this.env, cwd: this.folder });
  }

  async run(...args: readonly string[]): Promise<Outcome> {
    await using shell = this.start(...args);
    return await shell.end();
  }

  /** A line that begins with `holdfast`, as a user pastes it into a POSIX shell. */
  async paste(line: string): Promise<Outcome> {
    const words = [process.execPath, MAIN].map((word) => `'${word}'`).join(' ');
    await using shell = new Shell('sh', ['-c', `holdfast() { ${words} "$@"; }\n${line}`], {
      env: this.env,
      cwd: this.folder,
    });
    return await shell.end();
  }

  /** As in a terminal, of a size if one is told. */
  terminal(args: readonly string[], size?: { readonly rows: number; readonly cols: number }): Shell {
    const line = [process.execPath, MAIN, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    const sized = size ? `stty rows ${size.rows} cols ${size.cols}; ` : '';
    // ^C goes to the whole foreground group: a shell left in between could die of it and hide our own exit code.
    const env = { ...this.env, SHELL: '/bin/sh' };
    return new Shell('script', ['-qefc', `${sized}exec ${line}`, '/dev/null'], { env, cwd: this.folder });
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}
