import type { Seats } from '../contract/admission.ts';
import { type Terms, withWaitUntil } from '../contract/terms.ts';
import { AdaptiveHistory } from '../holds/adaptive-history.ts';
import { HeldLease } from '../holds/held-lease.ts';
import type { Hold } from '../holds/hold.ts';
import { RequestEvents } from './acquire-request.ts';
import { Frame } from './frame.ts';
import type { LockRuntime } from './runtime.ts';

/**
 * Takes seats of a key. If a frame of that key is around the caller and may be re-entered, it enters that.
 * @returns undefined when `wait` is 0 and they cannot be had now, and when words have settled the request
 */
export async function takeSeats(
  runtime: LockRuntime,
  key: string,
  seats: Seats,
  terms: Terms,
): Promise<HeldLease | undefined> {
  const { clock } = runtime.engine;
  const began = clock.now();
  const events = new RequestEvents(runtime, { key, seats, terms }, began);
  const until = began + terms.wait;
  let left = terms;
  let now = began;
  try {
    while (terms.reentrant) {
      runtime.assertOpen(key);
      const frame = Frame.around(runtime, key, seats);
      if (!frame) break;
      const lease = await frame.enter(events, left);
      if (lease === undefined) return await refuse(runtime, events);
      if (lease !== 'ended') {
        events.tellEnd('reentered');
        return lease;
      }
      now = clock.now();
      left = withWaitUntil(terms, until, now);
    }
    const history = terms.adaptive && AdaptiveHistory.of(runtime.engine, key, terms);
    if (history) {
      const longer = await history.lengthen(left);
      now = clock.now();
      left = withWaitUntil(longer, until, now);
    }
    const hold = await runtime.line(key).join(events, left, now, Frame.current);
    if (hold) return new HeldLease(runtime.engine, hold, history && (() => leaveLesson(runtime, hold, terms, history)));
    const state = terms.inquiry?.settled;
    if (!state) return await refuse(runtime, events);
    events.tellEnd('answered', undefined, state);
    return undefined;
  } catch (error) {
    events.tellFailure(error);
    return runtime.refusals.refuse(error);
  }
}

async function refuse({ refusals }: LockRuntime, events: RequestEvents): Promise<undefined> {
  events.tellEnd('refused');
  await refusals.next();
}

/** Releases the hold, and leaves the next holder word of how long the work took. */
async function leaveLesson(
  { engine }: LockRuntime,
  hold: Hold,
  { ttl }: Terms,
  history: AdaptiveHistory,
): Promise<boolean> {
  // Side by side, and both before the caller goes on: a caller that it tells of the release may read the lesson.
  const left = history.leave(engine.clock.now() - hold.timing.since, ttl);
  const freed = await hold.leave();
  await left;
  return freed;
}
