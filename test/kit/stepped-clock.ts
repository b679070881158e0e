import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { type Preload, preload } from './preload.ts';

/** The clock of servers that are started under it, on Linux. What they measure from the start of the machine goes on as it did. */
export interface SteppedClock extends Pick<Preload, 'under'>, Disposable {
  /** Sets it back (below 0) or forward from where it is, for all of them at once. ms. */
  step(ms: number): void;
  /** What it shows, ms since 1970. */
  now(): number;
}

export async function steppedClock(): Promise<SteppedClock> {
  const { file, ...library } = await preload('stepped-clock', 'STEPPED_CLOCK');
  let ahead = 0n;
  const said = Buffer.alloc(8);
  writeFileSync(file, said, { mode: 0o644 });
  return {
    ...library,
    now: () => Date.now() + Number(ahead) / 1e6,
    step(ms) {
      ahead += BigInt(Math.round(ms * 1e6));
      said.writeBigInt64LE(ahead);
      // In place, in one write: the servers have it mapped.
      const open = openSync(file, 'r+');
      writeSync(open, said, 0, said.length, 0);
      closeSync(open);
    },
  };
}
