import type { Notes } from '../../core/backend.ts';
import type { Engine } from './engine.ts';
import { noteOf } from './keys.ts';

/** Notes as keys of their own, which expire. */
export const notesOf = (engine: Engine, prefix: string): Notes => ({
  read: async (name) => {
    const text = await engine.command('read a note', 'GET', [noteOf(prefix, name)]);
    return text === null ? undefined : String(text);
  },
  write: async (name, text, ttl) => {
    const key = noteOf(prefix, name);
    if (text === undefined) await engine.command('forget a note', 'DEL', [key]);
    else await engine.command('keep a note', 'SET', [key], text, 'PX', `${Math.ceil(ttl)}`);
  },
});
