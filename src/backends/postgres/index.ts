export { type AdvisoryBackend, type AdvisoryOptions, postgresAdvisory } from './advisory-backend.ts';
export { type PostgresBackend, type PostgresOptions, postgres } from './backend.ts';
export type { Dial, PgClient, PgPool, PgQuery } from './client.ts';
export { setupScript } from './schema.ts';
