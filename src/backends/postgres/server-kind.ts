/**
 * Servers that speak PostgreSQL's protocol and are another program, by what `version()` says. Amazon Aurora DSQL does not name
 * itself there; it has no sequences, no procedures and no LISTEN, so it refuses setup() itself. Advisory locks silently do nothing on
 * CockroachDB (https://github.com/cockroachdb/cockroach/issues/13546), and on YugabyteDB a setting can make them do nothing
 * (https://github.com/yugabyte/yugabyte-db/issues/3642).
 */
const PRODUCTS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/CockroachDB/i, 'CockroachDB'],
  [/-YB-|YugabyteDB/i, 'YugabyteDB'],
  [/DSQL/i, 'Aurora DSQL'],
];

/** The name of such a server; undefined for PostgreSQL itself. */
export const lookAlike = (version: unknown): string | undefined =>
  PRODUCTS.find(([mark]) => mark.test(String(version)))?.[1];
