import { quoted } from '../core/engine.ts';
import type { Lines } from './claims.ts';
import type { Deadlock } from './deadlocks.ts';

/** The cycle in words: `host:1 waits for "b", held by host:2, who waits for "a", held by host:1`. */
export function told({ cycle }: Deadlock, { claims }: Lines): string {
  const parts = cycle.map((id, i) => {
    const { label, key, held } = claims.get(id)!;
    const before = claims.get(cycle[i - 1] ?? '');
    if (!before) return `${label} waits for ${quoted(key)}`;
    if (before.held) return `who waits for ${quoted(key)}`;
    return held ? `held by ${label}` : `behind ${label}, who waits`;
  });
  return parts.join(', ');
}
