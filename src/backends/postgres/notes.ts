import type { Notes } from '../../core/backend.ts';
import type { Row } from './client.ts';
import { isMissing } from './errors.ts';
import { marked } from './revision.ts';
import type { Server } from './server.ts';
import { commitNote, noteRead, notes } from './sql.generated.ts';

/** Notes in a table of their own. @param create makes the table with the first note, if it is not there */
export function notesOf(server: Server, named: (script: string) => string, create: boolean): Notes {
  async function send(text: string, values: unknown[]): Promise<Row[]> {
    const ask = () => server.send(named(text), values, 'a note');
    return ask().catch(async (error: { cause?: unknown }) => {
      if (!create || !isMissing(error.cause)) throw error;
      await server.script(named(marked(`${notes}\n${commitNote}`)), 'setting up the notes');
      return ask();
    });
  }

  return {
    async read(name) {
      const [row] = await send(noteRead, [Buffer.from(name)]);
      return row && String(row.text);
    },
    async write(name, text, ttl) {
      await send('CALL {commit_note}($1, $2, $3)', [Buffer.from(name), text ?? null, ttl]);
    },
  };
}
