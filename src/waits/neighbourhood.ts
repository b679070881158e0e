import type { LockRuntime } from '../core/runtime.ts';
import type { Standing } from '../core/traits.ts';
import { type Lines, linesOf } from './claims.ts';
import { standingsOf } from './look.ts';

/** Keys read in one look; with more, a deadlock is left to the next look, or to a listing of all. */
export const MOST_KEYS = 64;

/** A wait, and the keys of the holds that it is inside of. */
export interface Inside {
  readonly key: string;
  readonly inside: readonly string[];
}

/**
 * The lines that a deadlock of these waits would be in: those of the holds around them, of the holds around whoever waits for these, and
 * so on; and their own. Where nobody waits for what is around them, that is one key each.
 * @returns undefined where these are too many
 */
export async function neighbourhood(runtime: LockRuntime, waits: readonly Inside[]): Promise<Lines | undefined> {
  const asked = new Set<string>();
  const found: Standing[] = [];
  const ask = async (keys: Iterable<string>): Promise<Lines | undefined> => {
    const fresh = [...new Set(keys)].filter((key) => !asked.has(key));
    for (const key of fresh) asked.add(key);
    if (asked.size > MOST_KEYS) return undefined;
    found.push(...(await standingsOf(runtime, fresh)));
    return linesOf(found, runtime.localStandings(asked));
  };
  const followed = new Set<string>();
  let next = new Set(waits.flatMap(({ inside }) => inside));
  while (next.size > 0) {
    const lines = await ask(next);
    if (!lines) return undefined;
    for (const key of next) followed.add(key);
    next = new Set();
    for (const { held, key, origin } of lines.claims.values()) {
      if (held || !followed.has(key)) continue;
      for (const around of origin?.inside ?? []) {
        if (around.key !== undefined && !followed.has(around.key)) next.add(around.key);
      }
    }
  }
  return ask(waits.map(({ key }) => key));
}
