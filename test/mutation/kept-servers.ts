/** What stands for the starters of slow servers where mutants run: a server that nobody hurt is emptied and lent again. */
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { startMariadb as newMariadb } from '../kit/mariadb.ts';
import { startPostgres as newPostgres } from '../kit/postgres.ts';
import type { Server } from '../kit/server.ts';

interface Kept {
  readonly server: Server;
  /** Of its settings, as it came: who changes them keeps it from being lent again. */
  readonly settings: string;
}

type Look = (server: Server) => Promise<string>;
const HURTS = new Set<PropertyKey>(['pause', 'resume', 'kill', 'stop', 'restart']);

/** Lends servers of one kind. @param empty what makes one new @param look its settings */
function lender<Given extends unknown[]>(start: (...given: Given) => Promise<Server>, empty: Look, look: Look) {
  const kept = new Map<string, Kept[]>();
  return async (...given: Given): Promise<Server> => {
    const name = JSON.stringify(given);
    const free = kept.get(name) ?? kept.set(name, []).get(name)!;
    let own = free.pop();
    if (!own) {
      const server = await start(...given);
      own = { server, settings: await look(server) };
    }
    const { server, settings } = own;
    let hurt = false;
    const back = async (): Promise<void> => {
      const same = !hurt && (await empty(server).catch(() => undefined)) === settings;
      if (same) free.push({ server, settings });
      else await server[Symbol.asyncDispose]();
    };
    return new Proxy(server, {
      get(_, name) {
        if (name === Symbol.asyncDispose) return back;
        if (HURTS.has(name)) hurt = true;
        const value: unknown = Reflect.get(server, name, server);
        return typeof value === 'function' ? value.bind(server) : value;
      },
    });
  };
}

async function inPostgres(server: Server, act: (client: pg.Client) => Promise<unknown>): Promise<string> {
  const client = new pg.Client({ connectionString: server.url.replace(/postgres$/, 'template1') });
  await client.connect();
  try {
    await act(client);
    const { rows } = await client.query("SELECT string_agg(name || setting, ' ') AS all FROM pg_file_settings");
    return String(rows[0].all);
  } finally {
    await client.end();
  }
}

async function emptyPostgres(client: pg.Client): Promise<void> {
  const { rows: databases } = await client.query("SELECT datname FROM pg_database WHERE datname !~ '^template'");
  for (const { datname } of databases) await client.query(`DROP DATABASE "${datname}" WITH (FORCE)`);
  const { rows: roles } = await client.query("SELECT rolname FROM pg_roles WHERE rolname !~ '^pg_|^postgres$'");
  for (const { rolname } of roles) await client.query(`DROP ROLE "${rolname}"`);
  await client.query('CREATE DATABASE postgres');
}

export const startPostgres = lender(
  newPostgres,
  (server) => inPostgres(server, emptyPostgres),
  (server) => inPostgres(server, async () => {}),
);

type Connection = Awaited<ReturnType<typeof createConnection>>;
type Rows = Record<string, string | number>[];

async function inMariadb({ host, port }: Server, act: (client: Connection) => Promise<unknown>): Promise<string> {
  const client = await createConnection({ host, port, user: 'root' });
  try {
    await act(client);
    const [rows] = await client.query("SHOW GLOBAL VARIABLES WHERE Variable_name NOT REGEXP 'gtid|timestamp'");
    return JSON.stringify(rows);
  } finally {
    client.destroy();
  }
}

async function emptyMariadb(client: Connection): Promise<void> {
  const rowsOf = async (text: string): Promise<Rows> => (await client.query(text))[0] as Rows;
  const others = await rowsOf(
    "SELECT id FROM information_schema.processlist WHERE id <> connection_id() AND user <> 'system user'",
  );
  for (const { id } of others) await client.query(`KILL ${id}`).catch(() => {});
  const users = await rowsOf("SELECT user, host FROM mysql.user WHERE user NOT IN ('root', 'mariadb.sys')");
  for (const { user, host } of users) await client.query(`DROP USER '${user}'@'${host}'`);
  const databases = await rowsOf(
    "SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')",
  );
  for (const { name } of databases) await client.query(`DROP DATABASE \`${name}\``);
  await client.query('CREATE DATABASE holdfast');
}

export const startMariadb = lender(
  newMariadb,
  (server) => inMariadb(server, emptyMariadb),
  (server) => inMariadb(server, async () => {}),
);
