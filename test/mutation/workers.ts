import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Order, Report } from './messages.ts';

/** ms without a sign of life: it is in a loop that leaves no room for anything else. */
const SILENCE = 30_000;
/** ms to load the sources and the tests. On a busy machine it takes long, and gives no sign of life until it is over. */
const LOADING = 300_000;
/** Without servers, and of the exploration only as much as shows something. MySQL's scripts are judged on MariaDB alone. */
const ENVIRONMENT = { BACKENDS: 'memory', EXPLORE: 'little', MYSQLD: 'none' };

/** One process that runs tests. After an answer that does not come in time it is another one. */
export class Worker implements AsyncDisposable {
  readonly #module: string;
  readonly #more: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;
  /** Tests go by their numbers. */
  #tests: string | undefined;

  /** @param more environment, besides that of this process @param module what it runs */
  constructor(more: NodeJS.ProcessEnv = {}, module = 'worker.ts') {
    this.#module = fileURLToPath(new URL(module, import.meta.url));
    this.#more = more;
  }

  /** What it has to say first. */
  async start(): Promise<Extract<Report, { tests: unknown }> | undefined> {
    this.#child = fork(this.#module, {
      execArgv: ['--disable-warning=ExperimentalWarning', '--max-old-space-size=1500'],
      env: { ...process.env, ...ENVIRONMENT, ...this.#more },
      stdio: ['ignore', 'ignore', process.env.LOUD ? 'inherit' : 'ignore', 'ipc'],
    });
    const first = (await this.#answer(LOADING, LOADING)) as Extract<Report, { tests: unknown }> | undefined;
    this.#tests ??= first?.tests.join('\n');
    if (first && first.tests.join('\n') !== this.#tests)
      throw new Error('the tests have changed since this began: start it again');
    return first;
  }

  /** @returns undefined where it did not answer in time, or ended, or gave no sign of life */
  async ask<Answer extends Report>(order: Order, within: number): Promise<Answer | undefined> {
    if (!this.#child && !(await this.start())) throw new Error('a process that runs tests does not start');
    this.#child!.send(order);
    return (await this.#answer(within)) as Answer | undefined;
  }

  async #answer(within: number, silent = SILENCE): Promise<Report | undefined> {
    const child = this.#child!;
    const { promise, resolve } = Promise.withResolvers<Report | undefined>();
    const nothing = (): void => resolve(undefined);
    const over = setTimeout(nothing, within);
    let silence = setTimeout(nothing, silent);
    const hear = (report: Report): void => {
      clearTimeout(silence);
      silence = setTimeout(nothing, silent);
      if (!('alive' in report)) resolve(report);
    };
    child.on('message', hear).once('exit', nothing);
    const answer = await promise;
    clearTimeout(over);
    clearTimeout(silence);
    child.off('message', hear).off('exit', nothing);
    if (!answer) await this.end();
    return answer;
  }

  async end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    // It ends its servers first, if it can.
    child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), 2_000);
    await once(child, 'exit');
    clearTimeout(kill);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}
