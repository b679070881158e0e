import type { Hints } from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';

/** Keeps notes in this process. */
export function keptNotes(clock: Clock): Hints {
  const notes = new Map<string, { readonly text: string; readonly expires: number }>();
  return {
    read: async (name) => {
      const note = notes.get(name);
      return note && clock.now() < note.expires ? note.text : undefined;
    },
    write: async (name, text, ttl) => {
      const now = clock.now();
      for (const [old, { expires }] of notes) if (expires <= now) notes.delete(old);
      if (text === undefined) notes.delete(name);
      else notes.set(name, { text, expires: now + ttl });
    },
  };
}
