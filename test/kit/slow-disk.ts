import { execFile } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from './folder.ts';
import { program } from './programs.ts';

/** A disk that can be made slow, for servers that are started while `env` is theirs; not for those that are linked statically, such as etcd. */
export interface SlowDisk extends Disposable {
  /** Starts servers on it. */
  under<T>(start: () => Promise<T>): Promise<T>;
  /** From now on each write to the disk waits so long; 0: as it is. ms. */
  drag(ms: number): void;
}

export async function slowDisk(): Promise<SlowDisk> {
  const { path, [Symbol.dispose]: remove } = temporaryFolder();
  chmodSync(path, 0o755); // servers run under accounts of their own
  const library = join(path, 'slow-disk.so');
  const says = join(path, 'ms');
  const source = join(import.meta.dirname, 'slow-disk.c');
  await promisify(execFile)(program('models', 'gcc'), ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl']);
  return {
    async under(start) {
      Object.assign(process.env, { LD_PRELOAD: library, SLOW_DISK: says });
      try {
        return await start();
      } finally {
        delete process.env.LD_PRELOAD;
        delete process.env.SLOW_DISK;
      }
    },
    drag(ms) {
      if (ms > 0) writeFileSync(says, `${ms}`, { mode: 0o644 });
      else rmSync(says, { force: true });
    },
    [Symbol.dispose]: remove,
  };
}
