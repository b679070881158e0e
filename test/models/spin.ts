import { execFile } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../kit/folder.ts';
import { program } from '../kit/programs.ts';

const run = promisify(execFile);
const MODELS = join(import.meta.dirname, '..', '..', 'models');
/** ms for one model; the largest takes seconds. */
export const LIMIT = 300_000;

interface Asked {
  readonly model: string;
  /** Names that are defined, such as that of a broken twin. */
  readonly defined?: readonly string[];
  /** For the compiler of the search. */
  readonly compiled?: readonly string[];
  /** Other files beside the model. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A search through all states of a model, compiled: https://spinroot.com/spin/Man/Pan.html. */
export interface Search extends Disposable {
  /** What it prints. */
  run(options: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
  /** What the model prints on the way to the failure that the last run found. */
  trail(): Promise<string>;
}

export async function searchOf({ model, defined = [], compiled = ['-DSAFETY'], files = {} }: Asked): Promise<Search> {
  const folder = temporaryFolder();
  const at = { cwd: folder.path, timeout: LIMIT };
  for (const [from, to] of [
    [`${model}.pml`, 'model.pml'],
    ['steps.h', 'steps.h'],
  ] as const)
    copyFileSync(join(MODELS, from), join(folder.path, to));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  const names = defined.map((name) => `-D${name}`);
  await run(program('models', 'spin'), ['-a', ...names, 'model.pml'], at);
  await run(program('models', 'gcc'), ['-O2', '-w', ...compiled, '-I.', '-o', 'pan', 'pan.c'], at);
  return {
    run: async (options, env = {}) =>
      (await run(join(folder.path, 'pan'), options, { ...at, env: { ...process.env, ...env } })).stdout,
    trail: async () => (await run(program('models', 'spin'), ['-t', ...names, 'model.pml'], at)).stdout,
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}
