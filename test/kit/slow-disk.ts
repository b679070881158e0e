import { rmSync, writeFileSync } from 'node:fs';
import { type Preload, preload } from './preload.ts';

/** A disk that can be made slow, for servers that are started under it; not for those that are linked statically, such as etcd. */
export interface SlowDisk extends Pick<Preload, 'under'>, Disposable {
  /** From now on each write to the disk waits so long; 0: as it is. ms. */
  drag(ms: number): void;
}

export async function slowDisk(): Promise<SlowDisk> {
  const { file, ...library } = await preload('slow-disk', 'SLOW_DISK');
  return {
    ...library,
    drag(ms) {
      if (ms > 0) writeFileSync(file, `${ms}`, { mode: 0o644 });
      else rmSync(file, { force: true });
    },
  };
}
