import { createHash } from 'node:crypto';
import type { Finding } from '../../core/index.ts';
import { isMissing, isNoRight, unavailable } from './errors.ts';
import { checkNaming, type FillNames, type Naming, naming } from './options.ts';
import type { Server } from './server.ts';
import * as sql from './sql.generated.ts';

/**
 * The revision of the functions and tables together. Raise it with every change of a function or a table. In the database, a newer revision
 * replaces an older one, never the other way. Programs of both revisions work side by side. So a procedure that programs call keeps its
 * name, its arguments and its meaning: a newer revision may only add procedures.
 */
export const REVISION = 9;
const FORMAT = 1;
/** The oldest server that is accepted: older ones are out of support. */
const MIN_VERSION = 120_000;

/** Makes the planner use the indexes: such a plan gets no slower by dead rows, or by old statistics of the tables. */
const BY_INDEX =
  'SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off';

const FUNCTIONS = [sql.queue, sql.claim, sql.upkeep, sql.value, sql.calls]
  .join('\n')
  .replaceAll('{begin}', () => sql.begin)
  .replaceAll('{end}', () => sql.end)
  .replaceAll('{by_index}', BY_INDEX)
  .replaceAll('AS $holdfast$\n', () => `AS $holdfast$\n-- holdfast revision ${REVISION}\n`);
const NAMES = [...FUNCTIONS.matchAll(/CREATE OR REPLACE (?:FUNCTION|PROCEDURE) \{(\w+)\}/g)].map(([, name]) => name!);

/** Fills the names of the functions into a statement about them. */
export const aboutFunctions = (statement: string): string =>
  statement
    .replaceAll('{installed}', sql.installed)
    .replaceAll('{functions}', NAMES.map((name) => `'{=${name}}'`).join(', '));

const STATE = aboutFunctions(sql.state);

/**
 * Makes a block that creates what is missing. A lock lets one block run at a time: if two blocks created the same thing at once, one would fail
 * on a unique index of the catalogue. The right to create a schema is needed only if the schema is missing.
 */
const making = (parts: readonly string[], skip = ''): string => `DO $setup$
BEGIN
PERFORM pg_advisory_xact_lock(hashtextextended('{schema}', 0));
${skip}IF to_regnamespace('{schema}') IS NULL THEN
  CREATE SCHEMA {schema};
END IF;
${parts.map((part) => `EXECUTE $part$\n${part}\n$part$;`).join('\n')}
END
$setup$;`;

/** Makes the tables and functions, unless those in the database are of a newer revision. */
const SETUP = making(
  [sql.tables, FUNCTIONS],
  aboutFunctions(`IF coalesce((\n${sql.installed}), 0) > ${REVISION} THEN\n  RETURN;\nEND IF;\n`),
);
const ADVISORY_SETUP = making([sql.advisorySetup]);

/**
 * Everything that `setup()` of `postgres` runs, for a migration of your own: one transaction, safe to run again.
 * @example console.log(setupScript({ schema: 'locks' }));
 */
export function setupScript(names: Naming = {}): string {
  checkNaming(names);
  return naming(names)(SETUP);
}

export const setup = (server: Server): Promise<void> => make(server, SETUP, 'tables');
export const setupAdvisory = (server: Server): Promise<void> => make(server, ADVISORY_SETUP, 'sequence');

async function make(server: Server, script: string, what: string): Promise<void> {
  await server.script(script, `setting up the ${what}`).catch((error) => {
    if (!isNoRight(error.cause)) throw error;
    const schema = server.named('{schema}');
    const message = `the role may not make the ${what} in the schema ${schema} (${error.cause.message}); let an administrator run CREATE SCHEMA ${schema} AUTHORIZATION of this role, or GRANT CREATE, USAGE ON SCHEMA ${schema} to it, or run what holdfast setup --print or setupScript() gives, as a role that may`;
    throw unavailable(server.backend, message, undefined, error.cause);
  });
}

/** Runs `make` at the first use. Nobody asked for new tables in this database, so a warning says where they are. */
export async function makeAndWarn(server: Server, make: (server: Server) => Promise<void>): Promise<void> {
  await make(server);
  const warning = `${server.backend}: made its tables and functions in the schema ${server.named('{schema}')} of this database, as setup 'auto' does; holdfast setup --print shows them, for a migration and setup 'manual'`;
  process.emitWarning(warning, { code: 'HOLDFAST_SETUP' });
}

/**
 * Checks the tables before the first step. If `create` is true, makes what is missing, and replaces an older revision.
 * @throws LockError `LOCK_UNAVAILABLE` if nothing is set up, the format or the revision does not fit, or the server is too old.
 */
export async function open(server: Server, create: boolean): Promise<void> {
  const look = async () => (await server.send(STATE, [], 'a look at the tables'))[0] ?? {};
  const state = await look().catch(async (error) => {
    if (!create || !isMissing(error.cause)) throw error;
    await makeAndWarn(server, setup);
    return look();
  });
  const { format, version, server_time } = state;
  if (Number(format) !== FORMAT) {
    const message = `the tables have format ${format ?? 'none'}, this version of holdfast knows ${FORMAT}; run the same version everywhere, or use another prefix`;
    throw unavailable('postgres', message);
  }
  if (Number(version) < MIN_VERSION)
    throw unavailable('postgres', `the server is too old (${version}); use 12 or newer`);
  const revision = Number(state.revision ?? 0);
  if (revision < REVISION && create) await setup(server);
  else if (revision < REVISION) {
    const message = `its functions are of revision ${revision || 'none'}, this version of holdfast needs ${REVISION}; run setup() once, as the role that owns them`;
    throw unavailable('postgres', message);
  }
  server.serverClock.learn(Number(server_time));
}

const digestsOf = (named: FillNames): Map<string, string> => {
  const found = named(FUNCTIONS).matchAll(
    /(?:FUNCTION|PROCEDURE) "[^"]+"\."([^"]+)"\([^$]*\$holdfast\$(.*?)\$holdfast\$/gs,
  );
  return new Map([...found].map(([, name, body]) => [createHash('md5').update(body!).digest('hex'), name!]));
};

/** Compares the functions in the database with those of this program. Gives a finding if they differ. */
export async function revisionFinding(server: Server): Promise<Finding | undefined> {
  const look = (statement: string) => server.send(aboutFunctions(statement), [], 'a look at the functions');
  const [row] = await look(`SELECT (${sql.installed})::text AS revision`);
  if (row!.revision === null) return undefined; // the functions are missing, which is another finding
  const installed = Number(row!.revision);
  if (installed > REVISION) {
    const message = `The functions in the database are of revision ${installed}, newer than this program's ${REVISION}: it works with them.`;
    const advice = 'Bring every program to the newer version of holdfast.';
    return { severity: 'info', code: 'revision', message, advice };
  }
  const present = new Set((await look(sql.functions)).map(({ digest }) => String(digest)));
  const differing = [...digestsOf(server.named)].filter(([digest]) => !present.has(digest)).map(([, name]) => name);
  if (differing.length === 0) return undefined;
  const message = `Functions in the database differ from those of this program (revision ${installed} there, ${REVISION} here): ${[...new Set(differing)].join(', ')}.`;
  const advice = 'Run setup() once, as the role that owns them.';
  return { severity: 'warning', code: 'revision', message, advice };
}
