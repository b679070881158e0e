import { createHash } from 'node:crypto';
import type { Finding } from '../../core/backend.ts';
import type { Row } from './client.ts';
import type { Server } from './server.ts';
import {
  admit,
  attempt,
  commit,
  commitNote,
  functions,
  installed,
  prelude,
  release,
  renew,
  settle,
  spot,
  sweep,
} from './sql.generated.ts';

/**
 * Of the functions and tables together. Raise it with every change of either: a newer one replaces an older one in the
 * database, and never the other way. Programs of both go on side by side, so what a program calls keeps its name, its
 * arguments and its meaning, and a newer revision may only add to it.
 */
export const REVISION = 2;
/** The least that this program can work with. */
export const NEEDED = 2;

/** Whose bodies make up a revision. */
const SOURCES = [spot, admit, settle, attempt, release, renew, sweep, commit, commitNote];
const NAMES = [...SOURCES.join('\n').matchAll(/CREATE OR REPLACE (?:FUNCTION|PROCEDURE) \{(\w+)\}/g)].map(
  ([, name]) => name!,
);

/** The scripts of all functions, each marked with the revision. */
export const marked = (script: string): string =>
  script
    .replaceAll('{prelude}', prelude)
    .replaceAll('AS $holdfast$\n', () => `AS $holdfast$\n-- holdfast revision ${REVISION}\n`);

/** Fills in what a statement asks about the functions. */
export const aboutFunctions = (statement: string): string =>
  statement
    .replaceAll('{installed}', installed)
    .replaceAll('{functions}', NAMES.map((name) => `'{=${name}}'`).join(', '));

const digests = (named: (script: string) => string): Map<string, string> => {
  const found = named(marked(SOURCES.join('\n'))).matchAll(
    /(?:FUNCTION|PROCEDURE) "[^"]+"\."([^"]+)"\([^$]*\$holdfast\$(.*?)\$holdfast\$/gs,
  );
  return new Map([...found].map(([, name, body]) => [createHash('md5').update(body!).digest('hex'), name!]));
};

/** What differs between the functions in the database and those of this program, if anything does. */
export async function revisionFinding(server: Server, named: (script: string) => string): Promise<Finding | undefined> {
  const look = (statement: string): Promise<Row[]> =>
    server.send(named(aboutFunctions(statement)), [], 'a look at the functions');
  const [row] = await look(`SELECT (${installed}) AS revision`);
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
  const present = new Set((await look(functions)).map(({ digest }) => String(digest)));
  const differing = [...digests(named)].filter(([digest]) => !present.has(digest)).map(([, name]) => name);
  if (differing.length === 0) return undefined;
  return {
    severity: 'warning',
    code: 'revision',
    message: `Functions in the database differ from those of this program (revision ${there} there, ${REVISION} here): ${[...new Set(differing)].join(', ')}.`,
    advice: 'Run setup() once, as the role that owns them.',
  };
}
