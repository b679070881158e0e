import type { Notes } from '../../core/backend.ts';
import { isMissing } from './errors.ts';
import type { Row } from './pool.ts';
import { marked } from './revision.ts';
import type { Server } from './server.ts';
import * as sql from './sql.generated.ts';

const SETUP = marked(`${sql.notes}\n${sql.commitNote}`);

/** Notes in a table of their own. @param create makes the table with the first note, if it is missing */
export function notesOf(server: Server, create: boolean): Notes {
  async function send(text: string, values: unknown[]): Promise<Row[]> {
    const ask = () => server.send(text, values, 'a note');
    return ask().catch(async (error: { cause?: unknown }) => {
      if (!create || !isMissing(error.cause)) throw error;
      await server.script(SETUP, 'setting up the notes');
      return ask();
    });
  }

  return {
    async read(name) {
      const [row] = await send(sql.noteRead, [Buffer.from(name)]);
      return row && String(row.text);
    },
    async write(name, text, ttl) {
      await send('CALL {commit_note}($1, $2, $3)', [Buffer.from(name), text ?? null, ttl]);
    },
  };
}
