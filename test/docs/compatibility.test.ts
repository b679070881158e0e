/** What a page names, somebody will use: each such name is in the table of what ran, or stands here with the reason why not. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');
const pages = globSync('docs/backends/*.md', { cwd: root });
const table = read('docs/compatibility.md');

/** Servers, clients and runtimes. Whoever writes a new one on a page adds it, and its row. */
const NAMES =
  /\b(Redis|Valkey|PostgreSQL|MySQL|MariaDB|Galera|PgBouncer|etcd|ZooKeeper|MongoDB|NATS|S3|DynamoDB|ioredis|node-redis|iovalkey|Valkey GLIDE|Bun\.redis|postgres\.js|PGlite|Bun\.SQL|mysql2|Knex|Kysely|Drizzle|TypeORM|MikroORM|Sequelize|Prisma|Bun|Deno|PM2|Neon|Supabase|Dragonfly|Redis Enterprise|FerretDB|DocumentDB|SecantusDB|Aurora|Azure|Ceph|CockroachDB|YugabyteDB|Group Replication|Curator|pglite-socket|pg\.native|MinIO|R2|KeyDB|Upstash|ElastiCache|Percona|TiDB|Vitess|PlanetScale|ProxySQL|Pgpool|Odyssey|Consul)(?![\w.]\w)/g;

const REFUSED = 'it is refused, and the page says so';
const NOT_RUN = 'the page says that it was not run';
const EXCEPTIONS: Readonly<Record<string, string>> = {
  Dragonfly: REFUSED,
  FerretDB: REFUSED,
  DocumentDB: REFUSED,
  CockroachDB: REFUSED,
  YugabyteDB: REFUSED,
  'pg.native': REFUSED,
  'pglite-socket': 'two laws fail there, and the page says so',
  SecantusDB: 'it cannot run the pipelines, and the page says so',
  'Redis Enterprise': NOT_RUN,
  'Group Replication': NOT_RUN,
  Aurora: NOT_RUN,
  Azure: NOT_RUN,
  Ceph: NOT_RUN,
  MinIO: NOT_RUN,
  R2: NOT_RUN,
  Neon: 'PgBouncer stands for its pooler',
  Supabase: 'PgBouncer stands for its pooler',
  Curator: 'it is a client of ZooKeeper in Java, with which a test of its own shares a lock',
};

/** Packages of an example that have no row of their own. */
const PACKAGES: Readonly<Record<string, string>> = {
  '@aws-sdk/client-s3': 'S3',
  '@aws-sdk/client-dynamodb': 'DynamoDB',
  '@aws-sdk/lib-dynamodb': 'DynamoDB',
  '@nats-io/kv': 'NATS',
  '@nats-io/transport-node': 'NATS',
  mongodb: 'MongoDB',
};

const has = (name: string): boolean => table.includes(name);

test('each page of an engine leads to what ran on it', () => {
  const parts = new Set(
    [...table.matchAll(/^## (.*)$/gm)].map(([, title]) => title!.toLowerCase().replaceAll(' ', '-')),
  );
  for (const page of pages.filter((path) => !path.includes('register'))) {
    const [, part] = /\(\.\.\/compatibility\.md#([\w-]+)\)/.exec(read(page)) ?? [];
    expect(parts, page).toContain(part);
  }
});

test.each(['README.md', ...pages])('what %s names as a server, a client or a runtime was run', (page) => {
  const named = new Set([...read(page).matchAll(NAMES)].map(([, name]) => name!));
  expect([...named].filter((name) => !has(name) && !EXCEPTIONS[name])).toEqual([]);
});

test.each(['README.md', ...pages])('what the examples of %s import was run', (page) => {
  const imported = [...read(page).matchAll(/from '(?!holdfast|[.]|node:)([^']+)'/g)].map(([, name]) => name!);
  const missing = imported.filter((name) => {
    const own = name.replace(/^((?:@[^/]+\/)?[^/]+).*$/, '$1');
    return !table.includes(`${own} `) && !has(PACKAGES[own] ?? own);
  });
  expect(missing).toEqual([]);
});

test('no exception is for a name that is in the table, or that no page has', () => {
  const all = ['README.md', ...pages].map(read).join('\n');
  for (const name of Object.keys(EXCEPTIONS)) {
    expect(has(name), name).toBe(false);
    expect(all, name).toContain(name);
  }
});
