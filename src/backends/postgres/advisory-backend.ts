import { createHash } from 'node:crypto';
import {
  type Backend,
  type Finding,
  isLockError,
  MAX_DURATION_MS,
  systemClock,
  type Traits,
} from '../../core/index.ts';
import { SessionLocks } from '../shared/session-locks.ts';
import { SESSION_TRAITS } from '../shared/traits.ts';
import type { AdvisorySession, AskElsewhere } from './advisory-session.ts';
import { AdvisorySessions, openAdvisory } from './advisory-sessions.ts';
import { findings } from './check.ts';
import { checkSessions } from './clients.ts';
import { refusal } from './errors.ts';
import { type AdvisoryOptions, checkAdvisory, naming, sessionsOf } from './options.ts';
import { checkPool, dialOf, type PgPool } from './pool.ts';
import { makeAndWarn, setupAdvisory } from './schema.ts';
import { Server } from './server.ts';

const NAME = 'postgres-advisory';

/** Locks of sessions, with a call that makes the sequence of their tokens. */
export interface AdvisoryBackend extends Backend {
  /**
   * Makes what is missing. It may run again, and in many processes at once. The role needs the right to create.
   * @example await postgresAdvisory(pool, { setup: 'manual' }).setup(); // in a migration
   */
  setup(): Promise<void>;
}

/**
 * Session locks of PostgreSQL, on connections of our own. A lock is free at once when its process or its connection dies, and waiters
 * wait on the server. The locks are in the server's memory: only the token is written, and no lock outlives the server.
 * @throws LockError `LOCK_INVALID` when `pool` is no pool, or for a bad option
 * @example
 * import pg from 'pg';
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * const locks = createLocks(postgresAdvisory(pool));
 */
export function postgresAdvisory(pool: PgPool, options: AdvisoryOptions = {}): AdvisoryBackend {
  checkAdvisory(options);
  checkSessions(pool);
  return new Advisory(checkPool(pool), options);
}

class Advisory extends SessionLocks<AdvisorySession> implements AdvisoryBackend {
  readonly name = NAME;
  readonly traits: Traits = { ...SESSION_TRAITS, units: 'shared', ttl: { min: 10, max: MAX_DURATION_MS } };
  readonly #server: Server;
  readonly #sessions: AdvisorySessions;

  constructor(pool: PgPool, options: AdvisoryOptions) {
    const { setup = 'auto', clock = systemClock, connect, pooler } = options;
    const limit = sessionsOf(options);
    const dial = dialOf(pool, connect);
    const server = new Server(pool, naming(options), clock, NAME);
    const create = setup === 'auto' ? () => makeAndWarn(server, setupAdvisory) : undefined;
    const open = (ask: AskElsewhere) => openAdvisory(dial, server, pooler === 'session', create, ask);
    const sessions = new AdvisorySessions(open, limit);
    const tokens = server.named('{tokens}');
    super(
      sessions,
      (key) => lockOf(tokens, key),
      (error, key) => refusal(error, NAME, 'an attempt', key),
    );
    this.#server = server;
    this.#sessions = sessions;
  }

  async check(): Promise<Finding[]> {
    const found = await findings(this.#server);
    try {
      await this.#sessions.query('SELECT 1', []);
    } catch (error) {
      if (!isLockError(error)) throw error;
      found.push({ severity: 'danger', code: 'no-session', message: error.message, advice: 'See the message.' });
    }
    return found;
  }

  setup(): Promise<void> {
    return setupAdvisory(this.#server);
  }

  override async close(): Promise<void> {
    await super.close();
    this.#server.close();
  }
}

/**
 * The number of a key's advisory lock: 64 bits of SHA-256, as a signed decimal, since a JavaScript number has fewer bits. Advisory locks of
 * other programs in the database share these numbers. Among billions of names, two may get the same number by chance: the only effect
 * is that their locks exclude each other.
 */
const lockOf = (tokens: string, key: string): string =>
  // A lock belongs to one sequence of tokens. Its name has no NUL, so two different pairs of name and key never give the same text.
  createHash('sha256').update(`${tokens}\0${key}`).digest().readBigInt64BE(0).toString();
