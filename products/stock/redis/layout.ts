import type { Layout } from '../../../src/backends/redis/layout.ts';

/** How stock keeps what is text in Redis, declared once: the scripts name the words (see scripts/build-lua.mjs). */
export const layouts = {
  /** What became of a request: `til` is the ms at which a reservation runs out, or 0. */
  request: { fixed: {}, words: { status: '%l+', units: '%d+', til: '%d+', buyer: '.*' } },
  /** A move out of a cell, in its journal. */
  move: { fixed: {}, words: { seq: '%d+', units: '%d+' } },
} as const satisfies Record<string, Layout>;
