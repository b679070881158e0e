import type { Hints } from '../../core/contract/backend.ts';
import { noteForget, noteKeep, noteRead, noteSweep, notes } from './sql.generated.ts';
import { MICRO } from './stored-line.ts';
import type { Table } from './table.ts';

/** One write of so many also removes notes that have expired. */
const SWEEP = 64;

/** Notes in a table of their own. The first use makes the table. */
export function notesOf(table: Table, lockNameOf: (name: string) => Buffer): Hints {
  let written = 0;

  return {
    async read(name) {
      const [row] = await table.orMake(notes, () => table.read(noteRead, { name: lockNameOf(name) }));
      return row!.text === null ? undefined : String(row!.text);
    },
    async write(name, text, ttl) {
      const values = { name: lockNameOf(name), ttl: `${Math.ceil(ttl * MICRO)}` };
      await table.orMake(notes, () =>
        text === undefined
          ? table.write(noteForget, values)
          : table.write(noteKeep, { ...values, text: Buffer.from(text) }),
      );
      if (++written % SWEEP === 0) await table.write(noteSweep);
    },
  };
}
