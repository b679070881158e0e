import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { atExit } from '../../kit/cleanup.ts';
import { program } from '../../kit/programs.ts';
import { settleWithin } from '../../kit/wait.ts';

const JAR = '/usr/share/java/curator-recipes.jar';
const SOURCE = fileURLToPath(new URL('Rival.java', import.meta.url));
/** The source is compiled at each start. ms. */
const START = 60_000;

export type Kind = 'mutex' | 'read' | 'write';

/** A Java program that locks a path with Apache Curator: see Rival.java. */
export class Rival implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: Interface;
  readonly #exited: Promise<unknown>;
  readonly #forget: () => void;

  private constructor(servers: string, path: string) {
    const args = ['-cp', program('curator', JAR), SOURCE, servers, path];
    this.#process = spawn(program('curator', 'java'), args, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#exited = once(this.#process, 'exit');
    this.#forget = atExit(() => this.#process.kill('SIGKILL'));
    this.#process.stdin.on('error', () => {}); // told by the answer that does not come
    this.#lines = createInterface(this.#process.stdout);
  }

  static async start(servers: string, path: string): Promise<Rival> {
    const rival = new Rival(servers, path);
    await rival.#answer('start', START);
    return rival;
  }

  /** Whether Curator gave it the lock within `ms`. */
  async takes(kind: Kind, ms: number): Promise<boolean> {
    return (await this.#ask(`take ${kind} ${ms}`, ms)) === 'yes';
  }

  async frees(kind: Kind): Promise<void> {
    await this.#ask(`free ${kind}`, 0);
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  #ask(command: string, ms: number): Promise<string> {
    const answer = this.#answer(command, ms + 15_000);
    this.#process.stdin.write(`${command}\n`);
    return answer;
  }

  async #answer(what: string, within: number): Promise<string> {
    const [line] = await settleWithin(`the rival's answer to ${what}`, once(this.#lines, 'line'), within);
    return line;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.stdin.end();
    await settleWithin('the rival ends with its input', this.#exited).catch(() => this.kill());
    this.#forget();
  }
}
