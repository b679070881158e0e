import type { OpenSession } from './advisory-sessions.ts';
import { isMissing, lookAlike, readOnly, refusal, unavailable } from './errors.ts';
import { type Dial, isTrue } from './pool.ts';
import type { Server } from './server.ts';
import { Session } from './session.ts';
import { advisoryKept, advisoryLook } from './sql.generated.ts';

const ASKED = 'opening a session';
/** Whether tokens can be drawn. */
const TOKENS = "SELECT last_value, '{token}(bigint)'::regprocedure FROM {tokens}";

/**
 * A session that may carry advisory locks: it is on a primary, has the rights, and is the same from statement to statement.
 * @param pooled a pooler in between pools whole sessions
 * @param create makes what tokens come from; undefined where nobody wants that
 * @throws LockError `LOCK_UNAVAILABLE` where it may not
 */
export async function openAdvisory(
  dial: Dial,
  { backend, clock, serverClock, named }: Server,
  pooled: boolean,
  create: (() => Promise<void>) | undefined,
): Promise<OpenSession> {
  const session = await Session.open(dial, clock, pooled).catch((error) => {
    throw refusal(error, backend, ASKED);
  });
  try {
    const probe = BigInt.asIntN(64, BigInt(`0x${clock.id().slice(0, 16)}`)).toString();
    const [before] = await session.query(advisoryLook, [probe, session.own]);
    serverClock.learn(Number(before!.server_time));
    const product = lookAlike(before!.product);
    if (product) {
      throw unavailable(
        backend,
        `the server is ${product}, where an advisory lock may keep nobody out; use postgres(), which is untested there, or another engine`,
      );
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
    return { session, pid: Number(before!.pid), started: String(before!.started) };
  } catch (error) {
    session.cut();
    throw refusal(error, backend, ASKED);
  }
}
