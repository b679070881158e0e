import type { Clock } from '../../core/clock.ts';
import { checkNames } from '../../core/options.ts';

/** Options of `mysqlNamed`. */
export interface MysqlNamedOptions {
  /** Mixed into the name of every lock. Default `holdfast`. */
  readonly prefix?: string;
  /** Where the tickets are: `table` or `database.table`. Default `holdfast_lines`. */
  readonly table?: string;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

/** Options of `mysql`. */
export interface MysqlOptions {
  /** Begins the name of every key. Default `holdfast`. */
  readonly prefix?: string;
  /** `table` or `database.table`. Default `holdfast_lines`. */
  readonly table?: string;
  /** ms between two looks at the lines that this process waits in. Default 25. */
  readonly poll?: number;
  /** Hand over in a millisecond or two instead of a poll, by one connection of the pool that is kept. Default false. */
  readonly gate?: boolean;
  /** ms after which the row of a key nobody uses may be swept: a new one begins above its tickets. Default 10 minutes. */
  readonly idle?: number;
  /** ms between two sweeps, by one of all processes. Default 5 minutes; 0: none. */
  readonly sweep?: number;
  /** Renewals over one connection of our own, outside the pool, where they wait for no statement of the application. Default false. */
  readonly ownConnection?: boolean;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const NAMED = ['prefix', 'table', 'clock'];
const LEASED = [...NAMED, 'poll', 'gate', 'idle', 'sweep', 'ownConnection'];

export const checkNamed = (options: MysqlNamedOptions): void =>
  checkNames(options, new Set(NAMED), 'options of mysqlNamed()');
export const checkLeased = (options: MysqlOptions): void => checkNames(options, new Set(LEASED), 'options of mysql()');
