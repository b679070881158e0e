import { mysql, mysqlNamed } from 'holdfast/mysql';

export async function open(cell) {
  const connect = OPENERS[cell.client];
  const make = cell.mode === 'named' ? mysqlNamed : mysql;
  return {
    async backend(prefix) {
      const { pool, end } = await connect(cell);
      return { backend: make(pool, { prefix, ...cell.backend }), end };
    },
  };
}

async function mysql2({ url, options = {} }) {
  const { createPool } = await import('mysql2');
  const pool = createPool({ uri: url, connectionLimit: 5, ...options });
  return { pool, end: () => new Promise((resolve) => pool.end(resolve)) };
}

async function mysql2Promise({ url, options = {} }) {
  const { createPool } = await import('mysql2/promise');
  const pool = createPool({ uri: url, connectionLimit: 5, ...options });
  return { pool, end: () => pool.end() };
}

async function mariadb({ url, options = {} }) {
  const { createPool } = await import('mariadb');
  const { hostname: host, port, username: user, pathname } = new URL(url);
  const pool = createPool({
    host,
    port: Number(port),
    user,
    database: pathname.slice(1),
    connectionLimit: 5,
    ...options,
  });
  return { pool, end: () => pool.end() };
}

async function drizzle({ url }) {
  const { drizzle } = await import('drizzle-orm/mysql2');
  const { pool, end } = await mysql2Promise({ url });
  const db = drizzle(pool);
  await db.execute('select 1');
  return { pool: db.$client, end };
}

async function kysely({ url }) {
  const { Kysely, MysqlDialect, sql } = await import('kysely');
  const { pool } = await mysql2({ url });
  const db = new Kysely({ dialect: new MysqlDialect({ pool }) });
  await sql`select 1`.execute(db);
  return { pool, end: () => db.destroy() };
}

async function typeorm({ url }) {
  const { DataSource } = await import('typeorm');
  const source = await new DataSource({ type: 'mysql', url, poolSize: 5 }).initialize();
  return { pool: source.driver.pool, end: () => source.destroy() };
}

async function knex({ url }) {
  const { default: knex } = await import('knex');
  const db = knex({ client: 'mysql2', connection: url, pool: { min: 0, max: 5 } });
  const { pool, end } = await mysql2({ url });
  await db.raw('select 1');
  return { pool, end: () => Promise.all([db.destroy(), end()]) };
}

async function sequelize({ url }) {
  const { Sequelize } = await import('sequelize');
  const db = new Sequelize(url, { dialect: 'mysql', logging: false });
  const { pool, end } = await mysql2({ url });
  await db.authenticate();
  return { pool, end: () => Promise.all([db.close(), end()]) };
}

const OPENERS = {
  mysql2,
  'mysql2/promise': mysql2Promise,
  mariadb,
  'drizzle-orm': drizzle,
  kysely,
  typeorm,
  knex,
  sequelize,
};
