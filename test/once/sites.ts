import type { OnceResult } from '../../src/index.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import type { Engine } from '../kit/selection.ts';
import { ALL_SITES, type Site } from '../kit/sites.ts';
import type { OnceCalls } from './once.worker.ts';

export type { Site };

/** An engine on which instances of several processes see the same ticks. */
export interface OnceSite {
  readonly engine: Exclude<Engine, 'memory'>;
  /** ms */
  readonly ttl?: number;
}

export const SITES: readonly OnceSite[] = [
  { engine: 'file' },
  { engine: 'redis' },
  { engine: 'postgres' },
  { engine: 'etcd', ttl: 2_000 },
  { engine: 'zookeeper' },
];
/** These keep a record as those do that are left: as a hold in a row, and as holds on several nodes. */
export const MORE_SITES: readonly OnceSite[] = [{ engine: 'mysql' }, { engine: 'redlock' }];

export const open = ({ engine }: OnceSite): Promise<Site> => ALL_SITES[engine].start(1_000);

/** Starts one instance there. */
export const startInstance = (
  { url }: Site,
  env: Readonly<Record<string, string>>,
): Promise<WorkerProcess<OnceCalls>> =>
  startWorker(new URL('once.worker.ts', import.meta.url), { env: { URL: url, AHEAD: '0', ...env } });

export const won = (result: OnceResult<unknown>): string => (result.ran ? 'ran' : result.reason);
