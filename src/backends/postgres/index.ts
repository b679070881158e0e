export { type AdvisoryBackend, postgresAdvisory } from './advisory-backend.ts';
export { type PostgresBackend, postgres } from './backend.ts';
export type { Pglite, PostgresClient, SqlFunction } from './clients.ts';
export type { AdvisoryOptions, PostgresOptions } from './options.ts';
export type { Dial, PgClient, PgPool, PgQuery } from './pool.ts';
export { setupScript } from './schema.ts';
