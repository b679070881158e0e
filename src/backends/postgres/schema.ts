import { checkNames } from '../../core/options.ts';
import { isTrue } from './client.ts';
import { isMissing, unavailable } from './errors.ts';
import { type Naming, naming } from './names.ts';
import { aboutFunctions, marked, NEEDED, REVISION } from './revision.ts';
import type { Server } from './server.ts';
import {
  admit,
  attempt,
  commit,
  commitNote,
  installed,
  notes,
  release,
  renew,
  settle,
  spot,
  state,
  sweep,
  tables,
  upgrade,
} from './sql.generated.ts';

/** What is stored, and understood. */
const FORMAT = 1;
/** INSERT … ON CONFLICT, ROWS FROM and window frames would do with less; older ones are out of support. */
const OLDEST = 120_000;

/**
 * Everything that `setup()` runs, for a migration of your own: one transaction, safe to run again.
 * @example console.log(setupScript({ schema: 'locks' }));
 */
export function setupScript(names: Naming = {}): string {
  checkNames(names, NAMES, 'the names of setupScript');
  return scriptOf(naming(names));
}

const NAMES = new Set(['prefix', 'schema'] satisfies (keyof Naming)[]);

const PARTS = [tables, upgrade, notes, spot, admit, settle, attempt, release, renew, sweep, commit, commitNote];

/** Leaves a newer revision as it is. Two that create the same thing at the same moment would trip over the catalogue's indexes. */
export const scriptOf = (named: (script: string) => string): string =>
  named(
    aboutFunctions(`DO $setup$
BEGIN
PERFORM pg_advisory_xact_lock(hashtextextended('{meta}', 0));
IF coalesce((
${installed}), 0) > ${REVISION} THEN
  RETURN;
END IF;
${PARTS.map((part) => `EXECUTE $part$\n${marked(part)}\n$part$;`).join('\n')}
END
$setup$;`),
  );

/**
 * Looks once at what is stored before anything is asked of it, and sets it up, or brings it to this revision, if that is wanted.
 * @throws LockError `LOCK_UNAVAILABLE`: not set up, another format, an older revision, too old, a replica.
 */
export async function open(server: Server, named: (script: string) => string, create: boolean): Promise<void> {
  const look = async () => (await server.send(named(aboutFunctions(state)), [], 'a look at the tables'))[0] ?? {};
  const set = () => server.script(scriptOf(named), 'setting up the tables');
  const found = await look().catch(async (error: { cause?: unknown }) => {
    if (!create || !isMissing(error.cause)) throw error;
    await set();
    return look();
  });
  const { format, version, replica, server_time } = found;
  if (Number(format) !== FORMAT) {
    throw unavailable(
      'postgres',
      `the tables have format ${format ?? 'none'}, this version of holdfast knows ${FORMAT}; run the same version everywhere, or use another prefix`,
    );
  }
  if (Number(version) < OLDEST) throw unavailable('postgres', `the server is too old (${version}); use 12 or newer`);
  if (isTrue(replica)) throw unavailable('postgres', 'the server is a replica; connect to the primary');
  const revision = Number(found.revision ?? 0);
  if (revision < REVISION && create) {
    await set().catch((error) => {
      if (revision < NEEDED) throw error;
    });
  } else if (revision < NEEDED) {
    throw unavailable(
      'postgres',
      `its functions are of revision ${revision || 'none'}, this version of holdfast needs ${NEEDED}; run setup() once, as the role that owns them`,
    );
  }
  server.serverClock.learn(Number(server_time));
}
