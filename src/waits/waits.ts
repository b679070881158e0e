import { type Listing, type LockRuntime, printable } from '../core/index.ts';
import type { WaitsClaim } from './claims.ts';
import { type Deadlock, deadlocksIn } from './deadlocks.ts';
import { edgesAmong, type WaitsEdge } from './edges.ts';
import { confirm, lookAtAll } from './look.ts';

/** The claims that wait and what they wait for, as plain data. JSON shows the tokens as text. */
export interface Waits {
  /** All claims of keys that somebody waits for. */
  readonly claims: readonly WaitsClaim[];
  /** Which of these claims waits for which other one. */
  readonly edges: readonly WaitsEdge[];
  /** Deadlocks that later looks have confirmed. */
  readonly deadlocks: readonly Deadlock[];
}

/** @internal */
export async function waitsOf(runtime: LockRuntime, prefix: string, listing: Listing): Promise<Waits> {
  const lines = await lookAtAll(runtime, prefix, listing);
  return {
    claims: [...lines.claims.values()].map(printable),
    edges: edgesAmong(lines, new Set(lines.claims.keys())),
    deadlocks: await confirm(runtime, lines, deadlocksIn(lines)),
  };
}
