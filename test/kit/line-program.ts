import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { atExit } from './cleanup.ts';
import { settleWithin } from './wait.ts';

/** A JVM on a busy machine. ms. */
const START = 60_000;
/** What an answer may take beside the time that the command itself asks for, ms. */
const ANSWER = 20_000;

/** A program of any language that says `ready`, answers each line of its input with a line, and ends with its input. */
export class LineProgram implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #lines: Interface;
  readonly #exited: Promise<unknown>;
  readonly #forget: () => void;
  #complaint = '';

  private constructor(command: string, args: readonly string[]) {
    this.#process = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#exited = once(this.#process, 'exit');
    this.#exited.catch(() => {}); // it could not be started, which the missing answer tells
    this.#forget = atExit(() => this.#process.kill('SIGKILL'));
    this.#process.stdin.on('error', () => {}); // told by the answer that does not come
    this.#process.stderr.on('data', (data) => {
      this.#complaint = `${this.#complaint}${data}`.slice(-2_000);
    });
    this.#lines = createInterface(this.#process.stdout);
  }

  static async start(command: string, ...args: string[]): Promise<LineProgram> {
    const program = new LineProgram(command, args);
    await program.#answer('start', START);
    return program;
  }

  /** @param ms that the command itself may take */
  async ask(line: string, ms = 0): Promise<string> {
    const answer = this.#answer(line, ms + ANSWER);
    this.#process.stdin.write(`${line}\n`);
    return answer;
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#exited;
  }

  async #answer(what: string, within: number): Promise<string> {
    const ended = this.#exited.then(() => ['error: it has ended']);
    const answer = settleWithin(`an answer to ${what}`, Promise.race([once(this.#lines, 'line'), ended]), within);
    const [line] = (await answer.catch((cause) => {
      throw new Error(`no answer to ${what}: ${this.#complaint}`, { cause });
    })) as [string];
    if (line.startsWith('error')) throw new Error(`${what}: ${line} ${this.#complaint}`);
    return line;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.stdin.end();
    await settleWithin('the program ends with its input', this.#exited).catch(() => this.kill());
    this.#forget();
  }
}
