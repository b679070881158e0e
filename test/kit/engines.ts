import type { EngineName } from '../../src/connect/registry.ts';
import type { Need } from './programs.ts';

/** What the tests know of an engine. */
export interface EngineRow {
  /** What pages and forms call it. */
  readonly title: string;
  /** The servers that it is tried on. A suite that names none of them needs the first. */
  readonly needs: readonly Need[];
  /** Places of `test/engines/places.ts` that do not name it, each with the reason. */
  readonly absent?: Readonly<Record<string, string>>;
}

/** The engines that `BACKENDS=…` chooses from. The compiler asks for each engine of the registry. */
export const ENGINES = {
  memory: {
    title: 'memory',
    needs: [],
    absent: {
      'test/kit/sites.ts': 'no two processes share it',
      'test/torture/owner/owned.ts': 'it has no server',
      'test/matrix/servers.ts': 'it has no server',
    },
  },
  file: {
    title: 'file',
    needs: [],
    absent: {
      'test/torture/owner/owned.ts': 'it has no server',
      'test/matrix/servers.ts': 'it has no server',
    },
  },
  redis: { title: 'Redis', needs: ['redis'] },
  redlock: {
    title: 'Redlock',
    needs: ['redis'],
    absent: { 'test/matrix/servers.ts': 'its servers are those of Redis, whose row runs its tests' },
  },
  postgres: { title: 'PostgreSQL', needs: ['postgres'] },
  mysql: { title: 'MySQL', needs: ['mariadb', 'mysqld'] },
  mongodb: {
    title: 'MongoDB',
    needs: ['mongodb'],
    absent: {
      '.github/workflows/ci.yml': 'Debian has no package of it',
      'test/torture/owner/owned.ts': 'Debian has no package of it',
      'test/matrix/servers.ts': 'Debian has no package of it',
      'bench/arenas.ts': 'Debian has no package of it',
    },
  },
  etcd: { title: 'etcd', needs: ['etcd'] },
  zookeeper: { title: 'ZooKeeper', needs: ['zookeeper'] },
} as const satisfies Record<EngineName, EngineRow>;
