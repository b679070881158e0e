import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../kit/folder.ts';
import type { Result } from '../result.ts';
import type { ClientCell } from './cells.ts';
import type { Runtime } from './runtimes.ts';
import type { Address } from './stand.ts';

/** ms after which a run that hangs is ended. */
const LONGEST = 8 * 60_000;

export type Outcome = Pick<Result, 'seconds' | 'passed' | 'failed' | 'skipped' | 'failures'>;

interface Told {
  readonly refused?: string;
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly string[];
  readonly errors: readonly string[];
  readonly seconds: number;
}

let runs = 0;

/**
 * Runs a cell in a process of its own, in the folder of the clients.
 * @returns undefined if it was ended before it had a result
 */
export async function runClient(
  { name, row, setting }: ClientCell,
  folder: string,
  runtime: Runtime,
  { direct, ...address }: Address,
): Promise<Outcome | undefined> {
  using temporary = temporaryFolder();
  const path = join(temporary.path, 'cell.json');
  const { client, oldest, timing, sideBySide } = row;
  const { options, backend, mode } = setting;
  // Tables of its own, on a server that others have used.
  const prefix = `c${process.pid}_${++runs}`;
  const cell = { name, client, oldest, timing, sideBySide, options, backend, mode, direct, prefix, ...address };
  writeFileSync(path, JSON.stringify({ ...cell, program: row.program }));
  const child = spawn(runtime.command, [...runtime.args, 'main.mjs', path], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...runtime.env, HOLDFAST_CELL: path },
    timeout: LONGEST,
  });
  const end = (): boolean => child.kill();
  process.once('SIGTERM', end);
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  process.off('SIGTERM', end);
  const outcome = `${path}.outcome`;
  if (!existsSync(outcome)) return undefined;
  const told = JSON.parse(readFileSync(outcome, 'utf8')) as Told;
  rmSync(outcome);
  if (told.refused !== undefined) {
    console.error(`!! ${name} was refused: ${told.refused}`);
    return undefined;
  }
  for (const error of told.errors.slice(0, 5)) console.error(error);
  const hung = code === 0 ? [] : [`the process ended with ${code ?? signal}`];
  const failures = [...told.failures, ...hung];
  const { passed, skipped, seconds } = told;
  return { passed, skipped, seconds, failed: failures.length, failures };
}
