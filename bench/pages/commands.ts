/** What commands measure that is no row of the bench: the name of each, and what it is of. */
import { WAYS } from '../../examples/flash-sale/ways.ts';

export const SALE = 'sale: 2,000 units, 10,000 buyers at once in two processes, 5 ms of work';
export const CANDIDATES = 'leading: 50 candidates of 10 elections, in five processes';
export const HAND_OVER = 'leading: from one leader to the next, in another process';
export const LISTENED = 'telemetry: cycles of one caller, listened to';

/** The parts of each. */
export const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  [SALE]: WAYS.map(({ name }) => name),
  [CANDIDATES]: ['postgres', 'etcd', 'zookeeper', 'redis', 'mysql', 'redlock'],
  [HAND_OVER]: ['redis', 'file'],
  [LISTENED]: [
    'nothing (the noise of this measurement)',
    'a listener that does nothing',
    'metrics',
    'metrics, in a trace that is not sampled',
    'metrics, in a trace that is sampled',
  ],
};
