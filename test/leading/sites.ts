import { ENGINES } from '../kit/engines.ts';
import type { Engine } from '../kit/selection.ts';
import { ALL_SITES, type Site } from '../kit/sites.ts';

export type { Site };

/** Of every term, ms: what etcd grants at least, and long enough for a busy machine. */
export const TTL = 2_000;

export type LeadingEngine = Exclude<Engine, 'memory'>;
const named = (Object.keys(ENGINES) as LeadingEngine[]).filter((engine) => ENGINES[engine].sites);
export const ALL = named.filter((engine) => !ENGINES[engine].register);
export const SITES = Object.fromEntries(
  named.map((engine) => [engine, () => ALL_SITES[engine].start(TTL)]),
) as Readonly<Record<LeadingEngine, () => Promise<Site>>>;
/** Those whose holders all keep to a delay: where other programs lock, too, these would not. */
export const DELAYING = ALL.filter((engine) => !['redis-plain', 'redisson'].includes(engine));
/** Those that tell observers of changes. */
export const TELLING: readonly LeadingEngine[] = ['etcd', 'zookeeper'];
/** Those that are reached over a link, which can fail. */
export const LINKED = ALL.filter((engine) => engine !== 'file');
