/** The ways to reach an engine from several processes. Tests of all engines, torture and benches choose from these. */
import type { EngineName } from '../../src/connect/registry.ts';
import type { SiteOfEngine } from './engine-row.ts';
import { ENGINES } from './engines.ts';
import type { Engine } from './selection.ts';

export type { Site } from './engine-row.ts';

export interface SitePlan extends SiteOfEngine {
  readonly engine: Engine;
}

/** An engine that several processes share has one under its own name. */
export type SiteName = Exclude<EngineName, 'memory'> | 'redis-sentinel' | 'redis-cluster' | 'nats-cluster';

export const ALL_SITES = Object.fromEntries(
  Object.entries(ENGINES).flatMap(([engine, { sites = {} }]) =>
    Object.entries(sites).map(([name, site]): [string, SitePlan] => [name, { ...site, engine: engine as Engine }]),
  ),
) as Readonly<Record<SiteName, SitePlan>>;
