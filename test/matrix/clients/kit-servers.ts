import { createRequire } from 'node:module';
import { NEEDS } from '../../kit/programs.ts';
import type { Result } from '../result.ts';

const moto = { version: NEEDS.moto.pypi.version, from: 'PyPI' };
const { dependencies } = createRequire(import.meta.url)('../../emulators/package.json') as {
  dependencies: { dynalite: string };
};

/** Servers that the test kit has in one version, by their names among the rows of clients. Nothing is fetched for them. */
export const KIT_SERVERS = {
  nats: { server: 'nats', version: NEEDS.nats.pypi.version, from: 'PyPI' },
  's3-moto': { server: 's3-moto', ...moto },
  'dynamodb-dynalite': { server: 'dynamodb-dynalite', version: dependencies.dynalite, from: 'npm' },
  'dynamodb-moto': { server: 'dynamodb-moto', ...moto },
} as const satisfies Record<string, Pick<Result, 'server' | 'version' | 'from'>>;

export type KitServerName = keyof typeof KIT_SERVERS;

export const kitServer = (name: string): Pick<Result, 'server' | 'version' | 'from'> | undefined =>
  name in KIT_SERVERS ? KIT_SERVERS[name as KitServerName] : undefined;
