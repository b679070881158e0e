import type { Hints } from '../../core/index.ts';
import type { Server } from './server.ts';
import { noteRead } from './sql.generated.ts';

/** Notes in a table of their own. @param ready before the first statement: the tables are there */
export const notesOf = (server: Server, ready: () => Promise<void>): Hints => ({
  async read(name) {
    await ready();
    const [row] = await server.send(noteRead, [Buffer.from(name)], 'a note');
    return row && String(row.text);
  },
  async write(name, text, ttl) {
    await ready();
    await server.send('CALL {commit_note}($1, $2, $3)', [Buffer.from(name), text ?? null, ttl], 'a note');
  },
});
