import { isInUse } from '../contract/all-copies.ts';
import type { Claim } from '../contract/backend.ts';
import { isLockError } from '../contract/errors.ts';
import { type Engine, orUndefined } from './engine.ts';
import { Sleeper } from './listener.ts';

/** The first pause of a withdrawal whose outcome is unknown, ms. Each later pause is twice as long, up to `MAX_RETRY_PAUSE_MS`. */
const FIRST_RETRY_MS = 50;
const MAX_RETRY_PAUSE_MS = 2_000;

/**
 * Takes back, in the background, all that the engine may have given to this id. It releases the id again and again until the engine confirms the
 * release, or until the lease of the claim must be over, where the claim has a lease of its own. Only `close` waits for a withdrawal.
 * @param lateUntil the time until which an unanswered request may arrive: then the id is released once more
 */
export function withdraw(engine: Engine, claim: Claim, lateUntil = 0): void {
  withdrawAt(engine, claim, lateUntil);
  void untilReleased(engine, claim);
}

/** Withdraws the claim at `time`, if `time` is in the future, unless the `Locks` are closed by then and no session of other users has the claim. */
export function withdrawAt(engine: Engine, claim: Claim, time: number): void {
  const after = time - engine.clock.now();
  if (after > 0) void goesOnAfter(engine, after).then((goesOn) => goesOn && withdraw(engine, claim));
}

/**
 * Pauses in the background.
 * @returns false when the `Locks` are closed, unless other users keep the session open: it would carry the claim for as long as they do
 */
async function goesOnAfter({ activity, backend, clock }: Engine, ms: number): Promise<boolean> {
  const until = clock.now() + ms;
  await activity.pause(ms, true);
  const isCarried = (): boolean => backend.traits.lifetime === 'session' && isInUse(backend);
  if (activity.over && isCarried()) await new Sleeper(clock).sleep(until - clock.now(), true);
  return !activity.over || isCarried();
}

async function untilReleased(engine: Engine, claim: Claim): Promise<void> {
  const { activity, backend, clock } = engine;
  const until = backend.traits.lifetime === 'lease' ? clock.now() + claim.within + claim.ttl : Number.POSITIVE_INFINITY;
  activity.begin();
  try {
    for (let pause = FIRST_RETRY_MS; ; pause = Math.min(pause * 2, MAX_RETRY_PAUSE_MS)) {
      try {
        await engine.release(claim);
        return;
      } catch (error) {
        if (!mayHelp(error) || orUndefined(() => backend.ended?.()) || clock.now() >= until) return;
        if (!(await goesOnAfter(engine, pause))) return;
      }
    }
  } finally {
    activity.end();
  }
}

/** Whether another try may help: after an unknown outcome, or a refusal for a state of the server that may end, such as a full disk. */
const mayHelp = (error: unknown): boolean => !isLockError(error) || error.code === 'LOCK_UNAVAILABLE';
