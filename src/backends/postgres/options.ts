import { hash } from 'node:crypto';
import { ALL_UNITS, type Clock, checkNames, checkPrefix, namesOf, whole } from '../../core/index.ts';
import type { Dial } from './pool.ts';

export interface Naming {
  /** The prefix of every table, sequence and function: at most 40 of A–Z a–z 0–9 _ . : - (default `holdfast`). */
  readonly prefix?: string;
  /** The schema of the tables: at most 63 of the same characters (default `holdfast`). `setup()` makes the schema if it is missing. */
  readonly schema?: string;
}

interface ServerOptions extends Naming {
  /** `auto` (default): the first use makes what is missing. `manual`: only `setup()` does so, or your own migration. */
  readonly setup?: 'auto' | 'manual';
  /** States that a pooler between `connect` and the server pools whole sessions. Without this option, a connection through a pooler is refused. */
  readonly pooler?: 'session';
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

/** Options of `postgres`. */
export interface PostgresOptions extends ServerOptions {
  /**
   * Makes the connection that listens for notifications. It must not go through a transaction pooler. Default: a connection like the
   * pool's, outside the pool. `false`: no connection listens, and waiters poll.
   */
  readonly connect?: Dial | false;
  /**
   * Whether renewals go over a connection outside the pool, so they never wait behind statements of the application. It is the connection that
   * listens, or else one that the first renewal opens. While it is broken, renewals go over the pool. Default true if `connect` is given, or the
   * pool shows how to open a connection like its own, as a pool of `pg` does; without either, true is refused. Default false with `connect: false`.
   */
  readonly ownConnection?: boolean;
}

/** Options of `postgresAdvisory`. */
export interface AdvisoryOptions extends ServerOptions {
  /** The largest number of sessions, outside the pool: 2 to 1,000, default 10. All but one may wait at a time; the other waiters ask again and again. */
  readonly sessions?: number;
  /** Makes a connection that does not go through a transaction pooler. Default: a connection like the pool's. */
  readonly connect?: Dial;
}

const NAMING = { prefix: true, schema: true } as const;
const SERVER = { ...NAMING, setup: true, connect: true, pooler: true, clock: true } as const;
/** At least 2: if the only session waited, nothing else could be sent. */
const SESSIONS = { min: 2, max: 1_000, default: 10 };

export const checkNaming = (names: Naming): void =>
  checkNames(names, namesOf<Naming>(NAMING), 'the names of setupScript');
export const checkTable = (options: PostgresOptions): void =>
  checkNames(options, namesOf<PostgresOptions>({ ...SERVER, ownConnection: true }), 'options of postgres()');
export const checkAdvisory = (options: AdvisoryOptions): void =>
  checkNames(options, namesOf<AdvisoryOptions>({ ...SERVER, sessions: true }), 'options of postgresAdvisory()');

/** @throws LockError `LOCK_INVALID` */
export const sessionsOf = ({ sessions = SESSIONS.default }: AdvisoryOptions): number =>
  whole(sessions, 'sessions', SESSIONS.min, SESSIONS.max);

/** PostgreSQL silently cuts identifiers at 63 bytes, so a prefix must leave room for the rest of a name. */
const PREFIX = /^[A-Za-z0-9_.:-]{1,40}$/;
const SCHEMA = /^[A-Za-z0-9_.:-]{1,63}$/;

/** Fills the names of tables and functions, and the channel of evictions, into a script. */
export type FillNames = (script: string) => string;

/**
 * Checks the names. None of the characters allowed can end a quoted identifier, a literal or a function body, so no name changes what a script does.
 * @throws LockError `LOCK_INVALID`.
 */
export function naming({ prefix = 'holdfast', schema = 'holdfast' }: Naming): FillNames {
  checkPrefix(prefix, PREFIX);
  checkPrefix(schema, SCHEMA);
  return (script) =>
    script
      .replaceAll('{all_units}', String(ALL_UNITS))
      .replaceAll('{evictions}', `holdfast_${hash('sha256', `${schema}/${prefix}`).slice(0, 32)}`)
      .replaceAll('{schema}', `"${schema}"`)
      .replace(/\{=(\w+)\}/g, (_, name) => `"${prefix}_${name}"`)
      .replace(/\{(\w+)\}/g, (_, name) => `"${schema}"."${prefix}_${name}"`);
}
