import type { EngineName } from '../../src/connect/registry.ts';
import type { Need } from './programs.ts';

/** What the tests know of an engine. */
export interface EngineRow {
  /** The servers that it is tried on, and what the programs beside it are built with. A suite that names none of them needs the first. */
  readonly needs: readonly Need[];
  /** Made of a register: what it shares with the others of its kind is tested there, and not by processes on each. */
  readonly register?: true;
  /** Places of `test/engines/places.ts` that do not name it, each with the reason. */
  readonly absent?: Readonly<Record<string, string>>;
}

/** The engines that `BACKENDS=…` chooses from. The compiler asks for each engine of the registry. */
export const ENGINES = {
  memory: {
    needs: [],
    absent: {
      'test/kit/sites.ts': 'no two processes share it',
      'test/torture/owner/owned.ts': 'it has no server',
      'test/matrix/servers.ts': 'it has no server',
    },
  },
  file: {
    needs: [],
    absent: {
      'test/torture/owner/owned.ts': 'it has no server',
      'test/matrix/servers.ts': 'it has no server',
    },
  },
  redis: { needs: ['redis'] },
  redlock: {
    needs: ['redis'],
    absent: { 'test/matrix/servers.ts': 'its servers are those of Redis, whose row runs its tests' },
  },
  'redis-plain': {
    needs: ['redis', 'maven', 'python', 'go'],
    absent: {
      'test/torture/owner/owned.ts': 'its server is that of the rows of Redis, and keeps no more of a lock than a key',
      'test/matrix/servers.ts': 'its servers are those of Redis, whose row runs its tests',
      'bench/arenas.ts': 'its tests measure how soon a waiter is in; what a lock costs is a command or two',
    },
  },
  redisson: {
    needs: ['redis'],
    absent: {
      'test/torture/owner/owned.ts':
        'its server is that of the rows of Redis, and keeps no more of a lock than a few keys',
      'test/matrix/servers.ts': 'its servers are those of Redis, whose row runs its tests',
      'bench/arenas.ts': 'its tests measure how soon a waiter is in; what a lock costs is a command or two',
    },
  },
  postgres: { needs: ['postgres'] },
  mysql: { needs: ['mariadb', 'mysqld'] },
  mongodb: {
    needs: ['mongodb'],
    absent: {
      '.github/workflows/ci.yml': 'Debian has no package of it',
      'test/torture/owner/owned.ts': 'Debian has no package of it',
      'bench/arenas.ts': 'Debian has no package of it',
    },
  },
  etcd: { needs: ['etcd'] },
  zookeeper: { needs: ['zookeeper'] },
  nats: {
    needs: ['nats'],
    absent: {
      'test/matrix/servers.ts': 'one version of its server is run',
      'bench/arenas.ts': 'its page counts requests',
    },
  },
  s3: {
    register: true,
    needs: ['moto', 'emulators'],
    absent: {
      'test/torture/owner/owned.ts': 'an emulator keeps nothing over its end',
      'test/matrix/servers.ts': 'it is a service, and what runs here is an emulator',
      'bench/arenas.ts': 'the speed of an emulator says nothing; its page counts requests',
    },
  },
  dynamodb: {
    register: true,
    needs: ['emulators'],
    absent: {
      'test/torture/owner/owned.ts': 'an emulator keeps nothing over its end',
      'test/matrix/servers.ts': 'it is a service, and what runs here is an emulator',
      'bench/arenas.ts': 'the speed of an emulator says nothing; its page counts requests',
    },
  },
} as const satisfies Record<EngineName, EngineRow>;
