import type { Layout } from '../../../src/backends/redis/layout.ts';

/** The texts that stock keeps in Redis, declared once: the scripts use these names of words (see scripts/build-lua.mjs). */
export const layouts = {
  /** The state of a request. `til`: when the reservation runs out, ms since 1970, or 0. */
  request: { fixed: {}, words: { status: '%l+', units: '%d+', til: '%d+', buyer: '.*' } },
  /** A move out of a cell, in the cell's journal. */
  move: { fixed: {}, words: { seq: '%d+', units: '%d+' } },
} as const satisfies Record<string, Layout>;
