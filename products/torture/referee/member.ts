import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { withConnectLimit } from '../../../src/connect/engine.ts';
import type { FromWorker, Task, ToWorker } from '../events.ts';

/** How long a process may take to start. */
const MAX_START_MS = 60_000;

export type State = 'starting' | 'working' | 'stopped' | 'gone';

/** One process, from its start to its end. */
export class Member {
  readonly #child: ChildProcess;
  /** How the process ended. Resolves after the last message of the process. */
  readonly exited: Promise<string>;
  #stderr = '';
  #isKilled = false;
  #isAskedToEnd = false;
  state: State = 'starting';

  /**
   * @param program the command that runs `file`
   * @param onMessage gets its messages
   * @param onCrash called if the process ends by itself
   */
  constructor(
    [execPath, ...args]: readonly string[],
    file: string,
    onMessage: (message: FromWorker) => void,
    onCrash: (how: string) => void,
  ) {
    this.#child = fork(file, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      ...(execPath !== undefined && { execPath }),
      execArgv: [...args, '--disable-warning=ExperimentalWarning'],
    });
    this.#child.stderr?.on('data', (text) => {
      this.#stderr = (this.#stderr + text).slice(-2_000);
    });
    this.#child.on('error', () => {}); // a message to a process that is gone: its exit is reported elsewhere
    this.#child.on('message', onMessage);
    const received = once(this.#child, 'disconnect'); // after its last message
    this.exited = Promise.all([once(this.#child, 'exit'), received]).then(([[code, signal]]) => {
      this.state = 'gone';
      const how = `${signal ? `by ${signal}` : `with exit code ${code}`}${this.#stderr ? `: ${this.#stderr.trim()}` : ''}`;
      // A process that was asked to end may still crash, as by an unhandled rejection of its last release.
      if (!this.#isKilled && !(this.#isAskedToEnd && code === 0)) onCrash(how);
      return how;
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Sends the task, and waits until the process works. @throws the error of the process */
  async start(task: Task): Promise<void> {
    const ready = new Promise<void>((resolve, reject) => {
      this.#child.on('message', (message: FromWorker) => {
        if ('ready' in message) resolve();
        else if ('failed' in message) reject(new Error(message.failed));
      });
      this.exited.then((how) => reject(new Error(`a process ended ${how}`)));
    });
    this.send({ task });
    await withConnectLimit(ready, MAX_START_MS);
    this.state = 'working';
  }

  send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  stop(): void {
    this.state = 'stopped';
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    if (this.state !== 'stopped') return;
    this.state = 'working';
    this.#child.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    this.#isKilled = true;
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  /** Asks the process to release its locks and to end; kills it after `limit` ms. @returns whether it ended in time */
  async end(limit: number): Promise<boolean> {
    if (this.state === 'gone') return true;
    this.#isAskedToEnd = true;
    this.resume();
    this.send({ end: true });
    return withConnectLimit(this.exited, limit).then(
      () => true,
      () => this.kill().then(() => false),
    );
  }
}
