import type { Clock } from '../../core/clock.ts';
import type { ServerClock } from '../../core/server-clock.ts';
import { type Dial, isTrue } from './client.ts';
import { isMissing, refusal, unavailable } from './errors.ts';
import { lookAlike } from './server-kind.ts';
import { Session } from './session.ts';
import type { Opener } from './sessions.ts';
import { advisoryKept, advisoryLook } from './sql.generated.ts';

export interface Requirements {
  readonly backend: string;
  /** Reads where the tokens come from. */
  readonly tokens: string;
  /** Makes it, where that is wanted. */
  readonly create?: () => Promise<void>;
  /** A pooler in between is known to keep one server session per client session. */
  readonly sessionPooler: boolean;
}

/**
 * A session that may carry advisory locks: on a primary, with rights, and one and the same from statement to statement.
 * @throws LockError `LOCK_UNAVAILABLE` where it is not.
 */
export async function openAdvisory(
  dial: Dial,
  clock: Clock,
  serverClock: ServerClock,
  need: Requirements,
): ReturnType<Opener> {
  const asked = 'opening a session';
  const session = await Session.open(dial, clock, need.sessionPooler).catch((error) => {
    throw refusal(error, need.backend, asked);
  });
  try {
    const probe = BigInt.asIntN(64, BigInt(`0x${clock.id().slice(0, 16)}`)).toString();
    const [before] = await session.query(advisoryLook, [probe, session.own]);
    serverClock.learn(Number(before!.server_time));
    const product = lookAlike(before!.product);
    if (product) {
      throw unavailable(
        need.backend,
        `the server is ${product}, where an advisory lock may keep nobody out; use postgres(), which is untested there, or another engine`,
      );
    }
    const [after] = await session.query(advisoryKept, [probe]);
    if (!isTrue(after!.kept) || before!.pid !== after!.pid) {
      throw unavailable(
        need.backend,
        'the connection goes through a pooler, which would leave locks behind on sessions of others; give `connect` a direct connection, or pooler: "session" if it pools whole sessions',
      );
    }
    if (isTrue(before!.replica)) throw unavailable(need.backend, 'the server is a replica; connect to the primary');
    await session.query(need.tokens).catch(async (error) => {
      if (!need.create || !isMissing(error)) throw error;
      await need.create();
    });
    return { session, pid: Number(before!.pid), started: String(before!.started) };
  } catch (error) {
    session.cut();
    throw refusal(error, need.backend, asked);
  }
}
