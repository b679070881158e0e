import type { NewValue, ValueState } from '../contract/backend.ts';
import { isLockError, type LockError } from '../contract/errors.ts';
import type { StoreOutcome } from '../contract/values.ts';
import type { Engine } from '../engine/engine.ts';
import { withdraw, withdrawAt } from '../engine/withdrawal.ts';
import { currentClaim, type Hold, lossOf } from './hold.ts';
import { MAX_OUTAGE_MS } from './pause.ts';

/** The first pause after a release without an answer, ms. Each later pause is twice as long, up to the longest. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

/**
 * Releases a hold, and stores a value in the same step. Then it withdraws the claim: the engine may still have it, or get a late attempt. Never rejects.
 * @returns what became of the value; `unknown` after about `MAX_OUTAGE_MS` without an answer
 */
export async function releaseWith(
  engine: Engine,
  hold: Hold,
  value: NewValue,
  state: ValueState,
): Promise<StoreOutcome> {
  const { promise: troubled, resolve } = Promise.withResolvers<StoreOutcome>();
  const ended = endWith(engine, hold, value, () => resolve('unknown'));
  void ended.then((end) => end === 'stored' && hold.owner.events.publish('left', hold.token, { state }));
  return Promise.race([ended, troubled]);
}

/** @param onTrouble called after about `MAX_OUTAGE_MS` without an answer; the release goes on */
async function endWith(engine: Engine, hold: Hold, value: NewValue, onTrouble: () => void): Promise<StoreOutcome> {
  if (hold.markReleased() === undefined) return 'gone';
  engine.activity.begin();
  try {
    const outcome = await untilStored(engine, hold, value, onTrouble);
    if (outcome === 'gone') hold.loss ??= lossOf(hold.claim.key, engine.backend.name, 'the engine no longer has it');
    if (outcome === 'unknown') withdraw(engine, currentClaim(hold), hold.timing.lateUntil);
    else withdrawAt(engine, currentClaim(hold), hold.timing.lateUntil);
    return outcome;
  } catch (refused) {
    withdraw(engine, currentClaim(hold), hold.timing.lateUntil);
    return { refused: refused as LockError };
  } finally {
    engine.activity.end();
  }
}

/**
 * Sends the release again and again until an answer comes, or the lease is over. The caller waits for about `MAX_OUTAGE_MS` at most. An unanswered
 * release may have taken effect. Then the next release finds no hold, and the token of the stored value shows which hold stored it. A refusal ends
 * the loop at once, so the caller does not wait for a server without room. After an unanswered release, `LOCK_UNAVAILABLE` does not end the loop.
 * @throws LockError what the engine refuses with
 */
async function untilStored(engine: Engine, hold: Hold, value: NewValue, onTrouble: () => void): Promise<StoreOutcome> {
  const { claim, token, timing } = hold;
  const { activity, clock } = engine;
  const patient = clock.now() + MAX_OUTAGE_MS;
  let unanswered = false;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      if (await engine.store(claim, value)) return 'stored';
      const isFirst = !unanswered;
      unanswered = true; // the client may have sent the release twice: the value shows which hold freed the key
      const there = (await engine.look(claim.key)).value?.token; // perhaps of a later hold
      if (there === token) return 'stored';
      return (there === undefined ? isFirst : there < token) ? 'gone' : 'unknown';
    } catch (error) {
      if (isLockError(error) && (!unanswered || error.code !== 'LOCK_UNAVAILABLE')) throw error;
      unanswered = true;
    }
    if (clock.now() + pause >= timing.deadline || activity.over) return 'unknown';
    if (clock.now() + pause >= patient) onTrouble();
    await activity.pause(pause);
  }
}
