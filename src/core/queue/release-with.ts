import type { NewValue, ValueState } from '../contract/backend.ts';
import { isLockError, type LockError } from '../contract/errors.ts';
import { unsupported } from '../contract/options.ts';
import type { StoreOutcome } from '../contract/values.ts';
import type { Engine } from '../engine/engine.ts';
import { withdraw, withdrawAt } from '../engine/withdrawal.ts';
import { currentClaim, type Hold } from './hold.ts';
import { MAX_OUTAGE_MS } from './pause.ts';

/** The first pause after a release without an answer, ms. Each later pause is twice as long, up to the longest. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

/**
 * Releases a hold, and stores a value in the same step. Then it withdraws the claim: the engine may still have it, or get a late attempt. Never rejects.
 * @param onOutcome called when the caller gets the outcome
 * @returns what became of the value; `unknown` after about `MAX_OUTAGE_MS` without an answer
 */
export async function releaseWith(
  engine: Engine,
  hold: Hold,
  value: NewValue,
  state: ValueState,
  onOutcome: () => void,
): Promise<StoreOutcome> {
  const { promise: troubled, resolve } = Promise.withResolvers<StoreOutcome>();
  const ended = endWith(engine, hold, value, () => resolve('unknown'));
  void ended.then((end) => end === 'stored' && hold.owner.events.publish('left', hold.token, { state }));
  const outcome = await Promise.race([ended, troubled]);
  onOutcome();
  return outcome;
}

/** @param onTrouble called after about `MAX_OUTAGE_MS` without an answer; the release goes on */
async function endWith(engine: Engine, hold: Hold, value: NewValue, onTrouble: () => void): Promise<StoreOutcome> {
  if (hold.markReleased() === undefined) return 'gone';
  const { activity } = engine;
  activity.begin();
  try {
    const outcome = await untilStored(engine, hold, value, onTrouble);
    if (outcome === 'unknown') withdraw(engine, currentClaim(hold), hold.timing.lateUntil);
    else withdrawAt(engine, currentClaim(hold), hold.timing.lateUntil);
    return outcome;
  } catch (refused) {
    withdraw(engine, currentClaim(hold), hold.timing.lateUntil);
    return { refused: refused as LockError };
  } finally {
    activity.end();
  }
}

/** Decides whether a hold that is gone has stored its value. `there` is the token of the value that is stored now, perhaps by a later hold. */
function outcomeBy(token: bigint, there: bigint | undefined): StoreOutcome {
  if (there === token) return 'stored';
  return there !== undefined && there < token ? 'gone' : 'unknown';
}

/**
 * Sends the release again and again until an answer comes, or the lease is over. The caller waits for about `MAX_OUTAGE_MS` at most. An unanswered
 * release may have taken effect. Then the next release finds no hold, and the token of the stored value shows which hold stored it. A refusal ends
 * the loop at once, so the caller does not wait for a server without room. After an unanswered release, `LOCK_UNAVAILABLE` does not end the loop.
 * @throws LockError what the engine refuses with
 */
async function untilStored(
  engine: Engine,
  { claim, token, timing }: Hold,
  value: NewValue,
  onTrouble: () => void,
): Promise<StoreOutcome> {
  const { activity, clock } = engine;
  const patient = clock.now() + MAX_OUTAGE_MS;
  let unanswered = false;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      const { freed, stored } = await engine.release(claim, undefined, value);
      if (stored) return 'stored';
      if (freed) throw unsupported(engine.backend, 'store a value when it frees a key');
      const isFirst = !unanswered;
      unanswered = true; // the client may have sent the release twice: the value shows which hold freed the key
      const there = (await engine.look(claim.key)).value?.token;
      return isFirst && there === undefined ? 'gone' : outcomeBy(token, there);
    } catch (error) {
      if (isLockError(error) && (!unanswered || error.code !== 'LOCK_UNAVAILABLE')) throw error;
      unanswered = true;
    }
    if (clock.now() + pause >= timing.deadline || activity.over) return 'unknown';
    if (clock.now() + pause >= patient) onTrouble();
    await activity.pause(pause);
  }
}
