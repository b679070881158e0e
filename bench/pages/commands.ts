/** What commands measure that is no row of the bench: the name of each, and what it is of. */
import { WAYS } from '../../examples/flash-sale/ways.ts';

export const SALE = 'sale: 2,000 units, 10,000 buyers at once in two processes, 5 ms of work';
export const CANDIDATES = 'leading: 50 candidates of 10 elections, in five processes';
export const HAND_OVER = 'leading: from one leader to the next, in another process';
export const LISTENED = 'telemetry: cycles of one caller, listened to';
export const LARGE_FLEET = 'large fleet: processes that wait for one key, and are served once';
/** How many processes the page shows, by engine: as many as two cores bear. */
export const FLEETS: Readonly<Record<string, readonly number[]>> = {
  redis: [10, 100, 1_000],
  postgres: [10, 100, 1_000],
  etcd: [10, 100, 1_000],
};
export const fleetEntry = (engine: string, processes: number): string => `${engine}, ${processes}`;
export const POSTGRES_FLEET = 'postgres: hand-overs of one key in a fleet, × four processes alone';
export const POSTGRES_FLEETS = [
  'fleet, beside',
  'fleet, waiting',
  'fleet, no hand-off, beside',
  'fleet, no hand-off, waiting',
];
export const REGISTER_FLEET = 'register: processes that want one key, by their number and ttl in s';
/** Processes and ttl, ms. */
export const REGISTER_FLEETS = [
  [20, 30_000],
  [40, 5_000],
  [100, 30_000],
  [100, 10_000],
  [150, 30_000],
] as const;
export const registerEntry = (processes: number, ttl: number): string => `${processes}, ${ttl / 1_000}`;
export const EVICTED = 'eviction: until an evicted holder of another process is told';
export const EVICTIONS = ['file', 'redis', 'redlock', 'postgres', 'mysql', 'etcd', 'zookeeper', 'nats'];

/** The parts of each. */
export const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  [SALE]: WAYS.map(({ name }) => name),
  [CANDIDATES]: ['postgres', 'etcd', 'zookeeper', 'redis', 'mysql', 'redlock'],
  [HAND_OVER]: ['redis', 'file'],
  [LARGE_FLEET]: Object.entries(FLEETS).flatMap(([engine, sizes]) => sizes.map((size) => fleetEntry(engine, size))),
  [POSTGRES_FLEET]: POSTGRES_FLEETS,
  [REGISTER_FLEET]: REGISTER_FLEETS.map(([processes, ttl]) => registerEntry(processes, ttl)),
  [EVICTED]: EVICTIONS,
  [LISTENED]: [
    'nothing (the noise of this measurement)',
    'a listener that does nothing',
    'metrics',
    'metrics, in a trace that is not sampled',
    'metrics, in a trace that is sampled',
  ],
};
