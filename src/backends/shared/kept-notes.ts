import type { Notes } from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';

/** Keeps notes in this process. */
export function keptNotes(clock: Clock): Notes {
  const notes = new Map<string, { readonly text: string; readonly lapses: number }>();
  return {
    read: async (name) => {
      const note = notes.get(name);
      return note && clock.now() < note.lapses ? note.text : undefined;
    },
    write: async (name, text, ttl) => {
      const now = clock.now();
      for (const [old, { lapses }] of notes) if (lapses <= now) notes.delete(old);
      if (text === undefined) notes.delete(name);
      else notes.set(name, { text, lapses: now + ttl });
    },
  };
}
