import { checkNames } from '../../core/options.ts';
import { isTrue } from './client.ts';
import { isMissing, unavailable } from './errors.ts';
import { type Naming, naming } from './names.ts';
import type { Server } from './server.ts';
import { admit, attempt, notes, release, renew, settle, state, sweep, tables } from './sql.generated.ts';

/** What is stored, and understood. */
const FORMAT = 1;
/** INSERT … ON CONFLICT, ROWS FROM and window frames would do with less; older ones are out of support. */
const OLDEST = 120_000;

/** Everything that `setup()` runs, for a migration of your own: one transaction, safe to run again. */
export function setupScript(names: Naming = {}): string {
  checkNames(names, NAMES, 'the names of setupScript');
  return scriptOf(naming(names));
}

const NAMES = new Set(['prefix', 'schema'] satisfies (keyof Naming)[]);

export const scriptOf = (named: (script: string) => string): string =>
  [tables, admit, settle, attempt, release, renew, sweep, notes].map(named).join('\n\n');

/**
 * Looks once at what is stored before anything is asked of it, and sets it up if that is wanted and it is not there.
 * @throws LockError `LOCK_UNAVAILABLE`: not set up, another format, too old, a replica.
 */
export async function open(server: Server, named: (script: string) => string, create: boolean): Promise<void> {
  const look = () => server.send(named(state), [], 'a look at the tables');
  const rows = await look().catch(async (error: { cause?: unknown }) => {
    if (!create || !isMissing(error.cause)) throw error;
    await server.script(scriptOf(named), 'setting up the tables');
    return look();
  });
  const { format, version, replica, server_time } = rows[0] ?? {};
  if (Number(format) !== FORMAT) {
    throw unavailable(
      'postgres',
      `the tables have format ${format ?? 'none'}, this version of holdfast knows ${FORMAT}; run the same version everywhere, or use another prefix`,
    );
  }
  if (Number(version) < OLDEST) throw unavailable('postgres', `the server is too old (${version}); use 12 or newer`);
  if (isTrue(replica)) throw unavailable('postgres', 'the server is a replica; connect to the primary');
  server.time.heard(Number(server_time));
}
