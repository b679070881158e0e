import { createHash } from 'node:crypto';
import type { Finding } from '../../core/index.ts';
import type { FillNames } from './options.ts';
import type { Server } from './server.ts';
import * as sql from './sql.generated.ts';

/**
 * The revision of the functions and tables together. Raise it with every change of either. A newer one replaces an older one in
 * the database, never the other way. Programs of both work side by side, so what a program calls keeps its name, its arguments
 * and its meaning; a newer revision may only add to it.
 */
export const REVISION = 5;
/** The oldest revision that this program can work with. */
export const NEEDED = 2;

/** The scripts of all functions. */
export const FUNCTIONS: readonly string[] = [
  ...[sql.spot, sql.admit, sql.settle, sql.attempt, sql.release, sql.renew, sql.sweep],
  ...[sql.ask, sql.leave, sql.commit, sql.commitNote, sql.commitWords],
];
const NAMES = [...FUNCTIONS.join('\n').matchAll(/CREATE OR REPLACE (?:FUNCTION|PROCEDURE) \{(\w+)\}/g)].map(
  ([, name]) => name!,
);

/** Marks each function of a script with the revision. */
export const markFunctions = (script: string): string =>
  script
    .replaceAll('{prelude}', sql.prelude)
    .replaceAll('AS $holdfast$\n', () => `AS $holdfast$\n-- holdfast revision ${REVISION}\n`);

/** Fills in what a statement asks about the functions. */
export const aboutFunctions = (statement: string): string =>
  statement
    .replaceAll('{installed}', sql.installed)
    .replaceAll('{functions}', NAMES.map((name) => `'{=${name}}'`).join(', '));

const digestsOf = (named: FillNames): Map<string, string> => {
  const found = named(markFunctions(FUNCTIONS.join('\n'))).matchAll(
    /(?:FUNCTION|PROCEDURE) "[^"]+"\."([^"]+)"\([^$]*\$holdfast\$(.*?)\$holdfast\$/gs,
  );
  return new Map([...found].map(([, name, body]) => [createHash('md5').update(body!).digest('hex'), name!]));
};

/** What differs between the functions in the database and those of this program, if anything does. */
export async function revisionFinding(server: Server): Promise<Finding | undefined> {
  const look = (statement: string) => server.send(aboutFunctions(statement), [], 'a look at the functions');
  const [row] = await look(`SELECT (${sql.installed})::text AS revision`);
  const there = row!.revision === null ? undefined : Number(row!.revision);
  if (there === undefined) return undefined; // missing, which is another finding
  if (there > REVISION) {
    return {
      severity: 'info',
      code: 'revision',
      message: `The functions in the database are of revision ${there}, newer than this program's ${REVISION}: it works with them.`,
      advice: 'Bring every program to the newer version of holdfast.',
    };
  }
  const present = new Set((await look(sql.functions)).map(({ digest }) => String(digest)));
  const differing = [...digestsOf(server.named)].filter(([digest]) => !present.has(digest)).map(([, name]) => name);
  if (differing.length === 0) return undefined;
  return {
    severity: 'warning',
    code: 'revision',
    message: `Functions in the database differ from those of this program (revision ${there} there, ${REVISION} here): ${[...new Set(differing)].join(', ')}.`,
    advice: 'Run setup() once, as the role that owns them.',
  };
}
