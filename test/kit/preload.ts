import { execFile } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from './folder.ts';
import { program } from './programs.ts';

/** A library of ours that servers run with, and the file that tells it what to do. */
export interface Preload extends Disposable {
  readonly file: string;
  /** Servers that are started by this run with it, also when they are started again. */
  under<T>(start: () => Promise<T>): Promise<T>;
}

/** @param name of the source, `<name>.c` @param variable by which the library hears of its file */
export async function preload(name: string, variable: string): Promise<Preload> {
  const { path, [Symbol.dispose]: remove } = temporaryFolder();
  chmodSync(path, 0o755); // servers run under accounts of their own
  const library = join(path, `${name}.so`);
  const file = join(path, 'says');
  const source = join(import.meta.dirname, `${name}.c`);
  // No guard of the stack: its secret is kept with a thread of libc, and a thread of Go is none.
  const flags = ['-O2', '-shared', '-fPIC', '-fno-stack-protector'];
  await promisify(execFile)(program('preload', 'gcc'), [...flags, '-o', library, source, '-ldl']);
  return {
    file,
    async under(start) {
      const before = process.env.LD_PRELOAD;
      Object.assign(process.env, { LD_PRELOAD: before ? `${before}:${library}` : library, [variable]: file });
      try {
        return await start();
      } finally {
        if (before) process.env.LD_PRELOAD = before;
        else delete process.env.LD_PRELOAD;
        delete process.env[variable];
      }
    },
    [Symbol.dispose]: remove,
  };
}
