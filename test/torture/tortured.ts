import { ENGINES } from '../kit/engines.ts';
import { isOptional } from '../kit/programs.ts';
import { ALL_SITES, type SitePlan } from '../kit/sites.ts';

/** What `npm run prove -- torture` goes through: each way to reach an engine, and each of Redis by its other library, too. */
export interface Tortured {
  readonly name: string;
  readonly site: SitePlan;
  readonly byNodeRedis: boolean;
}

const sites = Object.entries(ALL_SITES).map(([name, site]): Tortured => ({ name, site, byNodeRedis: false }));

export const TORTURED: readonly Tortured[] = [
  ...sites,
  ...sites
    .filter(({ site }) => site.engine === 'redis')
    .map((each) => ({ ...each, name: `${each.name}-by-node-redis`, byNodeRedis: true })),
];

/** Those whose servers can be installed everywhere. */
export const INSTALLABLE: readonly Tortured[] = TORTURED.filter(
  ({ site }) => !ENGINES[site.engine].needs[0] || !isOptional(ENGINES[site.engine].needs[0]!),
);
