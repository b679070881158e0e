/**
 * Servers that speak PostgreSQL's protocol and are another program, by what `version()` says of them. Amazon Aurora DSQL says
 * nothing of itself there; it has no sequences, no procedures and no LISTEN, so setting up is refused by the server itself.
 * Advisory locks are a silent no-op on CockroachDB (https://github.com/cockroachdb/cockroach/issues/13546), and may be made one on
 * YugabyteDB (https://github.com/yugabyte/yugabyte-db/issues/3642).
 */
const PRODUCTS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/CockroachDB/i, 'CockroachDB'],
  [/-YB-|YugabyteDB/i, 'YugabyteDB'],
  [/DSQL/i, 'Aurora DSQL'],
];

/** Its name; undefined for PostgreSQL itself. */
export const lookAlike = (version: unknown): string | undefined =>
  PRODUCTS.find(([mark]) => mark.test(String(version)))?.[1];
