import type { Clock } from '../contract/clock.ts';
import { Agenda } from './agenda.ts';
import type { BusyPoll } from './busy-poll.ts';

/** A timer that fires so late shows that this process stood still: answers may lie unread. ms. */
const STALL = 20;

/** A call that is under way, or was. */
export interface Call {
  readonly due: number;
  /** Its slot among the calls under way. */
  slot: number;
  readonly expired: () => void;
}

/**
 * Limits for the calls under way, with one timer for all. Nearly every call is answered long before its limit, and a timer each would
 * cost more than many answers. The timer keeps no process alive; what the call waits for does.
 */
export class CallTimeouts {
  readonly #clock: Clock;
  readonly #busyPoll: BusyPoll | undefined;
  readonly #calls: Agenda<Call>;
  #graced = false;
  #ending = false;

  /** @param busyPoll polls for a call that is alone */
  constructor(clock: Clock, busyPoll?: BusyPoll) {
    this.#clock = clock;
    this.#busyPoll = busyPoll;
    this.#calls = new Agenda(clock, (late) => this.#look(late));
  }

  /** Begins the limit of a call that was sent at `now`. After `ms` it calls `expired`, unless the call has ended. */
  begin(ms: number, expired: () => void, now = this.#clock.now()): Call {
    const call: Call = { due: now + ms, slot: -1, expired };
    this.#calls.add(call, call.due);
    if (call.slot === 0) this.#busyPoll?.begin(now);
    else this.#busyPoll?.stop();
    return call;
  }

  /** The call was answered, or given up. @returns whether it was still under way */
  end(call: Call): boolean {
    if (!this.#calls.remove(call)) return false;
    this.#busyPoll?.answered();
    if (this.#ending) this.#settle();
    return true;
  }

  /** The answer, or after `ms` the error that `expired` makes. */
  bound<T>(answer: Promise<T>, ms: number, expired: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const call = this.begin(ms, () => reject(expired()));
      answer.then(
        (value) => {
          this.end(call);
          resolve(value);
        },
        (error) => {
          this.end(call);
          reject(error);
        },
      );
    });
  }

  /** From now on no timer stays when no call is under way. The calls under way keep their limits. */
  endTimers(): void {
    this.#ending = true;
    this.#settle();
  }

  /** Tells the callers that still wait that no answer came. */
  close(): void {
    for (const call of this.#calls.items) this.#expire(call);
    this.endTimers();
  }

  #settle(): void {
    if (this.#calls.size === 0) this.#calls.stop();
  }

  #look(late: number): void {
    const now = this.#clock.now();
    // Node reads the sockets before the next timer. Only once: a loop that is always late must not wait for ever.
    this.#graced = late > STALL && !this.#graced;
    if (this.#graced) {
      this.#calls.ringBy(now + 1);
      return;
    }
    for (const call of this.#calls.items) {
      if (call.due <= now) this.#expire(call);
      else this.#calls.ringBy(call.due);
    }
  }

  #expire(call: Call): void {
    if (this.end(call)) call.expired();
  }
}
