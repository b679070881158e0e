import type { SessionSource } from '../shared/session-locks.ts';
import { AdvisorySession, type AskElsewhere } from './advisory-session.ts';
import { isMissing, lookAlike, readOnly, refusal, unavailable } from './errors.ts';
import { type Dial, isTrue } from './pool.ts';
import type { Server } from './server.ts';
import { Session } from './session.ts';
import { advisoryKept, advisoryLook } from './sql.generated.ts';

/**
 * A limited number of sessions. Many locks share a session. A wait has a session to itself: a later statement on that session would wait, too.
 * At least one session never waits, so attempts can always be sent.
 */
export class AdvisorySessions implements SessionSource<AdvisorySession> {
  readonly single = false;
  readonly #open: (ask: AskElsewhere) => Promise<AdvisorySession>;
  readonly #limit: number;
  readonly #sessions = new Set<AdvisorySession>();
  #opening = 0;
  #shared: Promise<AdvisorySession> | undefined;
  #closed = false;

  constructor(open: (ask: AskElsewhere) => Promise<AdvisorySession>, limit: number) {
    this.#open = open;
    this.#limit = limit;
  }

  /** Gives a session for an attempt, and adds 1 to its `load`. */
  async toAsk(): Promise<AdvisorySession> {
    for (;;) {
      if (this.#closed) throw new Error('the backend is closed');
      const found = [...this.#sessions].find(({ waiting }) => !waiting);
      if (found) {
        found.load++;
        return found;
      }
      this.#shared ??= this.#add().finally(() => {
        this.#shared = undefined;
      });
      await this.#shared;
    }
  }

  readonly query: AskElsewhere = async (text, values) => {
    const found = await this.toAsk();
    try {
      return await found.session.query(text, values);
    } finally {
      this.done(found);
    }
  };

  /** Gives a session without locks, and marks it as waiting. */
  async toWait(): Promise<AdvisorySession | undefined> {
    const all = [...this.#sessions];
    // A session that is being opened may be for a wait, so it counts, too.
    if (all.filter(({ waiting }) => waiting).length + this.#opening >= this.#limit - 1) return undefined;
    const idle = all.find(({ waiting, load }) => !waiting && load === 0);
    if (!idle && all.length + this.#opening >= this.#limit) return undefined;
    const found = idle ?? (await this.#add(true));
    found.waiting = true;
    return found;
  }

  done(session: AdvisorySession, waited = false): void {
    if (waited) session.waiting = false;
    else session.load--;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#shared?.catch(() => {});
    await Promise.all([...this.#sessions].map(({ session }) => session.end()));
  }

  async #add(waiting = false): Promise<AdvisorySession> {
    this.#opening++;
    try {
      const added = await this.#open(this.query);
      added.waiting = waiting;
      this.#sessions.add(added);
      added.ended.addEventListener('abort', () => this.#sessions.delete(added));
      if (this.#closed) added.cut();
      return added;
    } finally {
      this.#opening--;
    }
  }
}

const ASKED = 'opening a session';
/** A statement that fails if the newest function is missing, or the role cannot draw tokens. */
const TOKENS = "SELECT last_value, '{wait}(bigint,boolean)'::regprocedure FROM {tokens}";

/**
 * Opens a session for advisory locks. It must be on a primary, have the rights, and stay the same from statement to statement.
 * @param pooled whether the connection goes through a pooler of whole sessions
 * @param create makes the sequence of the tokens; undefined: `setup` is `manual`
 * @throws LockError `LOCK_UNAVAILABLE` if the session fails one of these checks
 */
export async function openAdvisory(
  dial: Dial,
  server: Server,
  pooled: boolean,
  create: (() => Promise<void>) | undefined,
  ask: AskElsewhere,
): Promise<AdvisorySession> {
  const { backend, clock, serverClock, named } = server;
  const session = await Session.open(dial, clock, pooled).catch((error) => {
    throw refusal(error, backend, ASKED);
  });
  try {
    const probe = BigInt.asIntN(64, BigInt(`0x${clock.id().slice(0, 16)}`)).toString();
    const [before] = await session.query(advisoryLook, [probe, session.own]);
    serverClock.learn(Number(before!.server_time));
    const product = lookAlike(before!.product);
    if (product) {
      const message = `the server is ${product}, where an advisory lock may keep nobody out; use postgres(), which is untested there, or another engine`;
      throw unavailable(backend, message);
    }
    const [after] = await session.query(advisoryKept, [probe]);
    if (!isTrue(after!.kept) || before!.pid !== after!.pid) {
      throw unavailable(
        backend,
        'the connection goes through a pooler, which would leave locks behind on sessions of others; give `connect` a direct connection, or pooler: "session" if it pools whole sessions',
      );
    }
    if (isTrue(before!.read_only)) throw readOnly(backend, ASKED);
    await session.query(named(TOKENS)).catch(async (error) => {
      if (!create || !isMissing(error)) throw error;
      await create();
    });
    session.ended.throwIfAborted(); // it may have ended while the pool made the sequence: then its end would never be noticed
    return new AdvisorySession(session, [Number(before!.pid), String(before!.started)], server, ask);
  } catch (error) {
    session.cut();
    throw refusal(error, backend, ASKED);
  }
}
