import { isMissing, unavailable } from './errors.ts';
import { checkNaming, type Naming, naming } from './options.ts';
import { aboutFunctions, FUNCTIONS, markFunctions, NEEDED, REVISION } from './revision.ts';
import type { Server } from './server.ts';
import * as sql from './sql.generated.ts';

/** The format of what is stored. */
const FORMAT = 1;
/** INSERT … ON CONFLICT, ROWS FROM and window frames would do with less; older ones are out of support. */
const OLDEST = 120_000;

/**
 * Everything that `setup()` runs, for a migration of your own: one transaction, safe to run again.
 * @example console.log(setupScript({ schema: 'locks' }));
 */
export function setupScript(names: Naming = {}): string {
  checkNaming(names);
  return naming(names)(SETUP);
}

const PARTS = [sql.tables, sql.upgrade, sql.notes, sql.words, ...FUNCTIONS];

const STATE = aboutFunctions(sql.state);

/** Leaves a newer revision as it is. Only one runs at a time: two that create the same thing at once would fail in the catalogue's indexes. */
const SETUP = aboutFunctions(`DO $setup$
BEGIN
PERFORM pg_advisory_xact_lock(hashtextextended('{meta}', 0));
IF coalesce((
${sql.installed}), 0) > ${REVISION} THEN
  RETURN;
END IF;
${PARTS.map((part) => `EXECUTE $part$\n${markFunctions(part)}\n$part$;`).join('\n')}
END
$setup$;`);

export const setup = (server: Server): Promise<void> => server.script(SETUP, 'setting up the tables');

/**
 * Looks at what is stored, before anything else is asked of the server. If `create`, it makes what is missing or of an older revision.
 * @throws LockError `LOCK_UNAVAILABLE`: not set up, another format, an older revision, or too old a server.
 */
export async function open(server: Server, create: boolean): Promise<void> {
  const look = async () => (await server.send(STATE, [], 'a look at the tables'))[0] ?? {};
  const {
    format,
    version,
    server_time,
    revision: found,
  } = await look().catch(async (error) => {
    if (!create || !isMissing(error.cause)) throw error;
    await setup(server);
    return look();
  });
  if (Number(format) !== FORMAT) {
    throw unavailable(
      'postgres',
      `the tables have format ${format ?? 'none'}, this version of holdfast knows ${FORMAT}; run the same version everywhere, or use another prefix`,
    );
  }
  if (Number(version) < OLDEST) throw unavailable('postgres', `the server is too old (${version}); use 12 or newer`);
  const revision = Number(found ?? 0);
  if (revision < REVISION && create) {
    await setup(server).catch((error) => {
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
