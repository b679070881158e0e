export { type AdvisoryBackend, type AdvisoryOptions, postgresAdvisory } from './advisory.ts';
export type { Dial, PgClient, PgPool, PgQuery } from './client.ts';
export { type PostgresBackend, type PostgresOptions, postgres } from './postgres.ts';
export { setupScript } from './schema.ts';
