import { LockError } from '../../core/index.ts';
import type { MongoDb } from './driver.ts';
import { codeOf } from './errors.ts';

/** What a server with MongoDB's protocol says of itself. */
interface HelloReply {
  readonly buildInfo: Record<string, unknown>;
  readonly hello: Record<string, unknown>;
}

/** Unauthorized, AuthenticationFailed, CommandNotFound: the server answers, and does not say what it is. */
const TELLS_NOTHING: ReadonlySet<unknown> = new Set([13, 18, 59]);

/** The name of another product, if the answers show one; undefined for MongoDB, and for a product that shows no trace. */
export function lookalike({ buildInfo, hello }: HelloReply): string | undefined {
  // https://docs.ferretdb.io/
  if (Object.keys(buildInfo).some((name) => /^ferretdb/i.test(name))) return 'FerretDB';
  const versions = [buildInfo, hello].flatMap(({ internal }) => Object.keys((internal as object | undefined) ?? {}));
  // https://github.com/documentdb/documentdb, and Azure's service, which it comes from
  if (versions.some((name) => /^(documentdb|cosmos)_versions$/.test(name))) return 'DocumentDB';
  return undefined;
}

/** A router (`mongos`) gives its own time, and holds the changes of a stream up. */
export type ServerKind = 'member' | 'router';

/**
 * Gives the kind of server. It refuses those whose upsert by `_id` overwrites a document that another client has just made: there both
 * would hold.
 * @param maxTimeMS longest time the server may take
 * @throws LockError `LOCK_UNSUPPORTED`
 */
export async function serverKind(db: MongoDb, maxTimeMS: number): Promise<ServerKind> {
  const ask = (command: object): Promise<Record<string, unknown>> =>
    db.command({ ...command, maxTimeMS }).catch((error: unknown) => {
      if (!TELLS_NOTHING.has(codeOf(error))) throw error;
      return {};
    });
  const [buildInfo, hello] = await Promise.all([ask({ buildInfo: 1 }), ask({ hello: 1 })]);
  const name = lookalike({ buildInfo, hello });
  if (!name) return hello.msg === 'isdbgrid' ? 'router' : 'member';
  throw new LockError(
    'LOCK_UNSUPPORTED',
    `mongodb() was given ${name}, which speaks MongoDB's protocol: of two that make the same document at once it lets the second write over the first, so both would hold. Use MongoDB, or postgres() on the PostgreSQL below it`,
    { backend: 'mongodb' },
  );
}
