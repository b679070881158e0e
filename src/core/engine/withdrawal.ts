import type { Claim } from '../contract/backend.ts';
import { isLockError } from '../contract/errors.ts';
import type { Engine } from './engine.ts';

/** The first pause of a withdrawal whose outcome is unknown, ms. Each later one is twice as long, up to the last. */
const FIRST_RETRY_MS = 50;
const MAX_RETRY_PAUSE_MS = 2_000;

/**
 * Takes back, in the background, all that the engine may have given to this id. It releases the id until the engine confirms that. Where
 * the lease of the claim keeps it, it stops when that lease must be over. Only `close` waits for it.
 * @param lateUntil until when an unanswered request may arrive: the id is released once more then
 */
export function withdraw(engine: Engine, claim: Claim, lateUntil = 0): void {
  withdrawAt(engine, claim, lateUntil);
  void untilReleased(engine, claim);
}

/** Withdraws at `time`, if that is still to come, and unless the `Locks` are closed by then. */
export function withdrawAt(engine: Engine, claim: Claim, time: number): void {
  const after = time - engine.clock.now();
  if (after > 0) void engine.activity.pause(after, true).then(() => engine.activity.over || withdraw(engine, claim));
}

async function untilReleased(engine: Engine, claim: Claim): Promise<void> {
  const { activity, backend, clock } = engine;
  const expires = backend.traits.lifetime === 'lease';
  const until = expires ? clock.now() + claim.within + claim.ttl : Number.POSITIVE_INFINITY;
  activity.begin();
  try {
    for (let pause = FIRST_RETRY_MS; ; pause = Math.min(pause * 2, MAX_RETRY_PAUSE_MS)) {
      try {
        await engine.release(claim);
        return;
      } catch (error) {
        if (!mayPass(error) || backend.ended?.() || clock.now() >= until) return;
        await activity.pause(pause, true);
        if (activity.over) return;
      }
    }
  } finally {
    activity.end();
  }
}

/** A refusal for the present state of the server, such as a full disk, may pass; so may an unknown outcome. */
const mayPass = (error: unknown): boolean => !isLockError(error) || error.code === 'LOCK_UNAVAILABLE';
