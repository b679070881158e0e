import type { Clock, Hints } from '../../core/index.ts';

/** Keeps hints in this process. */
export function keptHints(clock: Clock): Hints {
  const hints = new Map<string, { readonly text: string; readonly expires: number }>();
  return {
    read: async (name) => {
      const hint = hints.get(name);
      return hint && clock.now() < hint.expires ? hint.text : undefined;
    },
    write: async (name, text, ttl) => {
      const now = clock.now();
      for (const [old, { expires }] of hints) if (expires <= now) hints.delete(old);
      if (text === undefined) hints.delete(name);
      else hints.set(name, { text, expires: now + ttl });
    },
  };
}
