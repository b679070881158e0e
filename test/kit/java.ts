import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { madeOnce } from './built.ts';
import { atExit } from './cleanup.ts';
import { missing, program } from './programs.ts';
import { serverCache } from './server-cache.ts';
import { settleWithin } from './wait.ts';

const run = promisify(execFile);
/** The first use fetches from the registry, ms. */
const FETCH_MS = 240_000;
const START_MS = 60_000;

/** A library as Maven names it. */
export interface Artifact {
  readonly group: string;
  readonly name: string;
  readonly version: string;
}

const pomOf = (artifacts: readonly Artifact[]): string =>
  `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>peer</artifactId><version>1</version><dependencies>
${artifacts.map(({ group, name, version }) => `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`).join('\n')}
</dependencies></project>`;

/**
 * The class path of these libraries with all that they need. Maven fetches them at the first use, beside the servers that were fetched.
 * Undefined where Maven or Java is not here, or the registry does not answer: that is told.
 */
export async function jarsOf(...artifacts: Artifact[]): Promise<string | undefined> {
  const names = artifacts.map(({ name, version }) => `${name}-${version}`).join('+');
  const folder = join(dirname(serverCache()), 'java', names);
  const copy = async (begun: string): Promise<void> => {
    const absent = missing('maven');
    if (absent) throw absent;
    writeFileSync(join(begun, 'pom.xml'), pomOf(artifacts));
    const args = ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=.', '-DincludeScope=runtime'];
    await run(program('maven', 'mvn'), args, { cwd: begun, timeout: FETCH_MS });
  };
  try {
    return join(await madeOnce(folder, copy), '*');
  } catch (error) {
    console.error(`\n!!! ${names} could not be had, so tests with it did not run: ${(error as Error).message}\n`);
    return undefined;
  }
}

async function compiled(source: string, jars: string): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(source)).update(jars).digest('hex').slice(0, 12);
  const folder = join(dirname(serverCache()), 'java', `${basename(source, '.java')}-${hash}`);
  return madeOnce(folder, (begun) => run(program('maven', 'javac'), ['-nowarn', '-cp', jars, '-d', begun, source]));
}

/** With what `java` runs a source, which is compiled once. */
export async function argumentsOf(source: URL, jars: string, ...args: string[]): Promise<string[]> {
  const file = fileURLToPath(source);
  const classes = await compiled(file, jars);
  const flags = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'];
  return [...flags, '-cp', `${classes}:${jars}`, basename(file, '.java'), ...args];
}

interface Pending {
  resolve(answer: string): void;
  reject(error: Error): void;
}

/**
 * A Java program that answers lines: `<number> <request>` with `<number> <answer>`, in any order. It prints `ready` first, and ends with its
 * input. An answer that begins with `!` is an error.
 */
export class JavaPeer implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #exited: Promise<unknown>;
  readonly #forget: () => void;
  readonly #pending = new Map<number, Pending>();
  readonly #ready = Promise.withResolvers<void>();
  #last = 0;

  private constructor(args: readonly string[]) {
    this.#process = spawn(program('maven', 'java'), args, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#exited = once(this.#process, 'exit').then(() => this.#end());
    this.#forget = atExit(() => this.#process.kill('SIGKILL'));
    this.#process.stdin.on('error', () => {}); // told by the answer that does not come
    createInterface(this.#process.stdout).on('line', (line) => this.#hear(line));
  }

  /** @param source a file with one public class, with a `main`. It is compiled once. */
  static async start(source: URL, jars: string, ...args: string[]): Promise<JavaPeer> {
    const peer = new JavaPeer(await argumentsOf(source, jars, ...args));
    try {
      await settleWithin('the Java peer is ready', peer.#ready.promise, START_MS);
      return peer;
    } catch (error) {
      peer.kill();
      throw error;
    }
  }

  /** Asks, and waits for the answer. @param within ms that it may take */
  async ask(request: string, within = 20_000): Promise<string> {
    const id = ++this.#last;
    const answer = new Promise<string>((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    this.#process.stdin.write(`${id} ${request}\n`);
    return settleWithin(`the Java peer answers ${request}`, answer, within).finally(() => this.#pending.delete(id));
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Stops it, or lets it go on. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process.kill(name);
  }

  #hear(line: string): void {
    if (line === 'ready') this.#ready.resolve();
    const [, id, answer = ''] = /^(\d+) (.*)$/.exec(line) ?? [];
    const pending = this.#pending.get(Number(id));
    if (answer.startsWith('!')) pending?.reject(new Error(answer.slice(1).trim()));
    else pending?.resolve(answer);
  }

  #end(): void {
    const ended = new Error('the Java peer has ended');
    this.#ready.reject(ended);
    for (const { reject } of this.#pending.values()) reject(ended);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.stdin.end();
    await settleWithin('the Java peer ends with its input', this.#exited).catch(() => this.kill());
    this.#forget();
  }
}
