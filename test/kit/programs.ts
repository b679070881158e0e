import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

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
  /** Debian has no server: an address in MONGO_URL, or a `mongod` on the PATH. */
  mongodb: { programs: ['mongod'], packages: [] },
  certificates: { programs: ['openssl'], packages: ['openssl'] },
  models: { programs: ['spin', 'gcc'], packages: ['spin', 'gcc', 'libc6-dev'] },
  curl: { programs: ['curl'], packages: ['curl'] },
  browser: { programs: ['chromium'], packages: ['chromium'] },
  curator: {
    // The compiler, too: the rival is a source file.
    programs: ['java', 'javac', '/usr/share/java/curator-recipes.jar'],
    packages: ['openjdk-17-jdk-headless', 'libcurator-recipes-java'],
  },
} as const satisfies Record<string, { programs: readonly string[]; packages: readonly string[] }>;

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
  const candidates = program.startsWith('/') ? [program] : folders().map((folder) => join(folder, program));
  return candidates.find((path) => {
    try {
      accessSync(path, program.startsWith('/') ? constants.R_OK : constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Why part of the suite cannot run here, and what to install. */
export class MissingProgram extends Error {
  override readonly name = 'MissingProgram';
  readonly need: Need;

  constructor(need: Need, programs: readonly string[]) {
    const { packages } = NEEDS[need];
    const advice =
      packages.length > 0 ? `on Debian: apt-get install ${packages.join(' ')}` : `Debian has no package; set MONGO_URL`;
    super(`${need} needs ${programs.join(' and ')}, not found here (${advice})`);
    this.need = need;
  }
}

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
