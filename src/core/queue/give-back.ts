import type { Release } from '../contract/backend.ts';
import { CALL_TIMEOUT, type Engine } from '../engine/engine.ts';
import { withdraw, withdrawAt } from '../engine/withdrawal.ts';
import type { Hold } from './hold.ts';

/**
 * Gives a released hold up. A release whose outcome is unknown goes on in the background.
 * @param giveBack gives it back to the engine @param onEnd called when that is over
 * @returns whether that freed it
 */
export async function giveUp(
  engine: Engine,
  hold: Hold,
  giveBack: () => Promise<Release>,
  onEnd: () => void,
): Promise<boolean> {
  const { timing } = hold;
  const now = engine.clock.now();
  const left = timing.minHoldLeft(now);
  // This is set up before the release is sent. The answer to that may come when the time is over, and says nothing about requests that
  // arrived after it.
  if (timing.lateUntil > now) withdrawAt(engine, hold.currentClaim, Math.max(timing.lateUntil, now + left));
  engine.activity.begin();
  try {
    if (left > 0) return await keepTaken(engine, hold, left, giveBack);
    return (await giveBack()).freed;
  } catch (error) {
    withdraw(engine, hold.currentClaim);
    hold.owner.events.tell('releaseFailed', hold.exclusive ? hold.token : undefined, { error });
    return false;
  } finally {
    onEnd();
    engine.activity.end();
  }
}

/**
 * Keeps the key taken for the rest of `minHold`: without this process where a hold expires by itself, and otherwise by a pause before
 * `giveBack`.
 */
async function keepTaken(engine: Engine, hold: Hold, left: number, giveBack: () => Promise<Release>): Promise<boolean> {
  const { traits } = engine.backend;
  if (!traits.expires) {
    await engine.activity.pause(left);
    return (await giveBack()).freed;
  }
  const ttl = Math.max(Math.ceil(left), traits.ttl.min);
  const { settled } = hold; // else an earlier request may arrive after this one, and set its own, longer lease
  const [answer] = await engine.renew([{ ...hold.claim, ttl }], CALL_TIMEOUT).catch(() => []);
  // Without an answer the key might stay taken for the whole lease. That is too long, but never too short.
  if (!settled || answer === undefined || answer === 'unknown') takeBack(engine, hold);
  return typeof answer === 'object';
}

/** Withdraws the claim in the background, when `minHold` and, after an expiry, `delay` are over. */
export function takeBack(engine: Engine, { currentClaim, timing }: Hold, closedUntil = 0): void {
  const now = engine.clock.now();
  const kept = Math.max(now + timing.minHoldLeft(now), closedUntil);
  if (kept > now) withdrawAt(engine, currentClaim, Math.max(kept, timing.lateUntil));
  else withdraw(engine, currentClaim, timing.lateUntil);
}
