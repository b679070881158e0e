import { type Clock, checkNames, namesOf } from '../../core/index.ts';

/** Options of `mysqlNamed`. */
export interface MysqlNamedOptions {
  /** Mixed into the name of every lock. Default `holdfast`. */
  readonly prefix?: string;
  /** The table of the tokens: `table` or `database.table`. Default `holdfast_lines`. */
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
  /** ms between two looks at the lines in which this process waits. Default 25. */
  readonly poll?: number;
  /** Keeps one connection of the pool, over which a hand-over takes a millisecond or two instead of a poll. Default false. */
  readonly gate?: boolean;
  /** ms after which the row of a key that nobody uses may be swept. A new row begins above its tokens. Default 10 minutes. */
  readonly idle?: number;
  /** ms between two sweeps. One of all processes sweeps. Default 5 minutes; 0: none. */
  readonly sweep?: number;
  /**
   * Renewals go over one connection of their own, outside the pool, so they never wait for statements of the application. The first renewal
   * opens it; while it is away, renewals go over the pool. Default true for a pool of mysql2; one of `mariadb` does not tell how to open a
   * connection like its own, so true is refused there.
   */
  readonly ownConnection?: boolean;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const NAMED = { prefix: true, table: true, clock: true } as const;
const NAMED_NAMES = namesOf<MysqlNamedOptions>(NAMED);
const TABLE_NAMES = namesOf<MysqlOptions>({
  ...NAMED,
  poll: true,
  gate: true,
  idle: true,
  sweep: true,
  ownConnection: true,
});

export const checkNamed = (options: MysqlNamedOptions): void =>
  checkNames(options, NAMED_NAMES, 'options of mysqlNamed()');
export const checkTable = (options: MysqlOptions): void => checkNames(options, TABLE_NAMES, 'options of mysql()');
