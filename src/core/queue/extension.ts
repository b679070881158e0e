import type { LockError } from '../contract/errors.ts';
import { CALL_TIMEOUT_MS } from '../engine/engine.ts';
import { endGone } from './eviction.ts';
import { currentClaim, type Hold } from './hold.ts';
import { deadlineOf } from './hold-timing.ts';
import { noteRenewal } from './watchdog.ts';

/**
 * Makes a hold last for at least `ms` from now. Extensions of one hold come one after the other.
 * @param assertKept throws if the caller that asks for it has no lease of the hold any more
 * @throws LockError if the outcome is not known, or the engine keeps the old lease
 */
export async function extendHold(hold: Hold, ms: number, assertKept: () => void): Promise<void> {
  const { timing, terms, keeper, claim } = hold;
  const { engine } = keeper;
  await timing.renewing; // if the renewal arrived after the extension, it would set a shorter lease
  assertKept();
  const sent = engine.clock.now();
  const { ttl: before, deadline } = timing;
  timing.ask(Math.max(ms + terms.delay, before)); // from now on no renewal is shorter
  const unknown = (why: unknown): LockError =>
    engine.unavailable(claim.key, why, 'The old deadline stands; try again before it');
  let why: unknown = 'the renewal was not confirmed';
  const [answer] = await engine.renew([currentClaim(hold)], CALL_TIMEOUT_MS).catch((error: unknown) => {
    why = error;
    return [];
  });
  if (typeof answer !== 'object') timing.doubt(timing.ttl); // also if this lease was released: others may share the hold, or have it next
  if (answer === 'gone') await endGone(hold, 'the engine no longer has it');
  assertKept();
  if (typeof answer !== 'object') throw unknown(why);
  if (answer.kept) {
    noteRenewal(hold, sent, answer.validFor);
    await timing.renewing;
    // A renewal beside the extension may have got the longer lease. Then a renewal to the lease before would end before the deadline.
    const byOldLease = Math.max(deadline, deadlineOf(engine.clock.now(), before - terms.delay));
    if (timing.deadline <= byOldLease) timing.ask(before);
    throw answer.kept;
  }
  const lasts = timing.noteExtension(ms, sent);
  noteRenewal(hold, sent, answer.validFor);
  if (!lasts) throw unknown('an earlier renewal may still arrive, and shorten it');
}
