import { postgresAdvisory, postgres as table } from 'holdfast/postgres';

export async function open(cell) {
  const connect = OPENERS[cell.client];
  const make = cell.mode === 'advisory' ? postgresAdvisory : table;
  // The tables are made once: clients that come at the same time would meet there.
  return {
    async backend(prefix) {
      const { pool, end } = await connect(cell);
      const options = {
        prefix: prefix === 'one' ? cell.prefix : 'two',
        ...cell.backend,
        ...(await pastThePooler(cell)),
      };
      return { backend: make(pool, options), end };
    },
  };
}

/** LISTEN needs a session, which a pooler by transactions does not give. */
async function pastThePooler({ direct }) {
  if (!direct) return {};
  const { default: all } = await import('pg');
  return { connect: () => new all.Client(direct) };
}

async function pg({ url, options = {} }) {
  const { default: all } = await import('pg');
  const pool = new all.Pool({ connectionString: url, max: 5, ...options });
  pool.on('error', () => {});
  return { pool, end: () => pool.end() };
}

async function porsager({ url, options = {} }) {
  const { default: postgres } = await import('postgres');
  const sql = postgres(url, { max: 5, onnotice: () => {}, ...options });
  return { pool: sql, end: () => sql.end({ timeout: 1 }) };
}

let embedded;
/** It is in this process, so all are on the same one. */
async function pglite() {
  const { PGlite } = await import('@electric-sql/pglite');
  embedded ??= PGlite.create();
  return { pool: await embedded };
}

async function bun({ url, options = {} }) {
  const sql = new Bun.SQL(url, { max: 5, ...options });
  return { pool: sql, end: () => sql.close({ timeout: 1 }) };
}

async function knex({ url }) {
  const { default: knex } = await import('knex');
  const db = knex({ client: 'pg', connection: url, pool: { min: 0, max: 5 } });
  const { pool, end } = await pg({ url });
  await db.raw('select 1');
  return { pool, end: () => Promise.all([db.destroy(), end()]) };
}

async function kysely({ url }) {
  const { pool } = await pg({ url });
  const { Kysely, PostgresDialect, sql } = await import('kysely');
  const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
  await sql`select 1`.execute(db);
  return { pool, end: () => db.destroy() };
}

async function drizzle({ url }) {
  const { drizzle } = await import('drizzle-orm/node-postgres');
  const { pool, end } = await pg({ url });
  const db = drizzle(pool);
  await db.execute('select 1');
  return { pool: db.$client, end };
}

async function drizzlePorsager({ url }) {
  const { drizzle } = await import('drizzle-orm/postgres-js');
  const { pool, end } = await porsager({ url });
  const db = drizzle(pool);
  await db.execute('select 1');
  return { pool: db.$client, end };
}

async function typeorm({ url }) {
  const { DataSource } = await import('typeorm');
  const source = await new DataSource({ type: 'postgres', url, extra: { max: 5 } }).initialize();
  return { pool: source.driver.master, end: () => source.destroy() };
}

async function mikro({ url }) {
  const { MikroORM } = await import('@mikro-orm/postgresql');
  const { pool, end } = await pg({ url });
  const orm = await MikroORM.init({ clientUrl: url, entities: [], discovery: { warnWhenNoEntities: false } });
  await orm.em.getConnection().execute('select 1');
  return { pool, end: () => Promise.all([orm.close(true), end()]) };
}

async function sequelize({ url }) {
  const { Sequelize } = await import('sequelize');
  const { pool, end } = await pg({ url });
  const db = new Sequelize(url, { logging: false });
  await db.authenticate();
  return { pool, end: () => Promise.all([db.close(), end()]) };
}

async function prisma({ url }) {
  const { PrismaPg } = await import('@prisma/adapter-pg');
  const { pool, end } = await pg({ url });
  const adapter = await new PrismaPg(pool).connect();
  await adapter.queryRaw({ sql: 'select 1', args: [], argTypes: [] });
  return { pool, end };
}

const OPENERS = {
  pg,
  postgres: porsager,
  '@electric-sql/pglite': pglite,
  'Bun.SQL': bun,
  knex,
  kysely,
  'drizzle-orm': drizzle,
  'drizzle-orm/postgres-js': drizzlePorsager,
  typeorm,
  '@mikro-orm/postgresql': mikro,
  sequelize,
  '@prisma/adapter-pg': prisma,
};
