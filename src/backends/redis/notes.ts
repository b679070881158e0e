import type { Hints } from '../../core/contract/backend.ts';
import { noteOf } from './keys.ts';
import type { Server } from './shards.ts';

/** Keeps each note in a key of its own, which expires. */
export const notesOf = (server: Server, prefix: string): Hints => ({
  read: async (name) => {
    const text = await server.command('read a note', 'GET', [noteOf(prefix, name)]);
    return text === null ? undefined : String(text);
  },
  write: async (name, text, ttl) => {
    const key = noteOf(prefix, name);
    if (text === undefined) await server.command('forget a note', 'DEL', [key]);
    else await server.command('keep a note', 'SET', [key], text, 'PX', `${Math.ceil(ttl)}`);
  },
});
