import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { atExit } from '../kit/cleanup.ts';
import { settleWithin, until } from '../kit/wait.ts';

/**
 * Lines come by a descriptor of their own, so that no command takes them for its input. The shell outlives ^C, which ends what
 * it runs.
 */
const SHELL = `trap : INT
while IFS= read -r -u 3 line; do
  eval "$line" 3<&-
  code=$?
done`;

/** A shell that is typed into. */
export class Terminal implements AsyncDisposable {
  readonly #bash: ChildProcess;
  readonly #forget: () => void;
  #printed = '';
  #run = 0;

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.#bash = spawn('bash', ['-c', SHELL], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
    this.#bash.stdio[3]!.on('error', () => {}); // it is killed with what was typed unread
    this.#forget = atExit(() => this.#signal('SIGKILL'));
    this.#bash.stdout!.on('data', (data) => {
      this.#printed += data;
    });
    this.#bash.stderr!.on('data', (data) => {
      this.errors += data;
    });
  }

  /** What all commands so far printed as errors. */
  errors = '';

  /** What the last commands printed so far. */
  get output(): string {
    const [, after = ''] = this.#printed.split(`--begin ${this.#run}--\n`);
    return after.split(`--end ${this.#run}--`)[0]!;
  }

  /** The exit code of the last commands; undefined while they run. */
  get code(): number | undefined {
    const code = new RegExp(`--end ${this.#run}-- (\\d+)\n`).exec(this.#printed)?.[1];
    return code === undefined ? undefined : Number(code);
  }

  /** Settled when these have ended, or go on and have printed what is `enough`. */
  async run(commands: string, enough: (output: string) => boolean, within = 60_000): Promise<void> {
    const run = ++this.#run;
    (this.#bash.stdio[3] as Writable).write(`echo "--begin ${run}--"\n${commands}\necho "--end ${run}-- $code"\n`);
    const settled = () => this.code !== undefined || enough(this.output);
    await until('the commands end, or print what the page shows', settled, within).catch((error) => {
      throw new Error(`${error.message}. They printed:\n${this.output}${this.errors}`);
    });
  }

  async interrupt(): Promise<void> {
    this.#signal('SIGINT');
    await until('what runs ends by ^C', () => this.code !== undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#bash, 'close');
    this.#signal('SIGKILL');
    await settleWithin('the terminal is closed', closed);
    this.#forget();
  }

  /** To all that was started here. */
  #signal(signal: NodeJS.Signals): void {
    process.kill(-this.#bash.pid!, signal);
  }
}
