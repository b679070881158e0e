import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { settleWithin } from '../kit/wait.ts';

export const program = (name: string): string =>
  fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url));

export interface App extends AsyncDisposable {
  readonly url: string;
  /** Sends it the signal and gives its exit code. */
  ended(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts an example that prints `listening on <url>`, on a free port. */
export async function started(args: readonly string[]): Promise<App> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    env: { ...process.env, NODE_OPTIONS: '', PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  const url = new Promise<string>((resolve, reject) => {
    const heard = (chunk: Buffer): void => {
      output.push(chunk.toString());
      const found = /listening on (\S+)/.exec(output.join(''))?.[1];
      if (found) resolve(found);
    };
    child.stdout.on('data', heard);
    child.stderr.on('data', heard);
    child.once('exit', (code) => reject(new Error(`it ended with ${code} and printed:\n${output.join('')}`)));
  });
  try {
    return { url: await settleWithin(`${args[0]} listens`, url, 15_000), ended: end, [Symbol.asyncDispose]: kill };
  } catch (error) {
    await kill();
    throw error;
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (running(child)) {
      const exit = once(child, 'exit');
      child.kill(signal);
      await settleWithin(`${args[0]} ends by ${signal}`, exit, 10_000);
    }
    return child.exitCode;
  }

  async function kill(): Promise<void> {
    await end('SIGKILL');
  }
}

const running = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;
