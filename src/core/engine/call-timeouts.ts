import type { Clock } from '../contract/clock.ts';
import { Agenda } from './agenda.ts';
import type { BusyPoll } from './busy-poll.ts';

/** A timer that fires this late says that this process stood still: answers may lie unread. ms. */
const STALL = 20;

/** A call that is under way, or was. */
export interface Call {
  readonly due: number;
  /** Its slot among the calls under way. */
  slot: number;
  readonly expired: () => void;
}

/**
 * Limits for calls under way, and one timer for all of them: nearly every call is answered long before, and a timer each would
 * cost more than many an answer. It keeps no process alive; what the call waits for does.
 */
export class CallTimeouts {
  readonly #clock: Clock;
  readonly #busyPoll: BusyPoll | undefined;
  readonly #calls: Agenda<Call>;
  #graced = false;
  #resting = false;

  /** @param busyPoll for a call that is alone */
  constructor(clock: Clock, busyPoll?: BusyPoll) {
    this.#clock = clock;
    this.#busyPoll = busyPoll;
    this.#calls = new Agenda(clock, (late) => this.#look(late));
  }

  /** A call that was sent at `now`: `expired` is called after `ms`, unless it has ended. */
  begin(ms: number, expired: () => void, now = this.#clock.now()): Call {
    const call: Call = { due: now + ms, slot: -1, expired };
    this.#calls.add(call, call.due);
    if (call.slot === 0) this.#busyPoll?.begin(now);
    else this.#busyPoll?.stop();
    return call;
  }

  /** It was answered, or given up. Whether it was still under way. */
  end(call: Call): boolean {
    if (!this.#calls.remove(call)) return false;
    this.#busyPoll?.answered();
    if (this.#resting) this.#settle();
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

  /** From now on no timer stays when nothing is under way. What is keeps its limit. */
  rest(): void {
    this.#resting = true;
    this.#settle();
  }

  /** Whoever still waits is told that nothing came. */
  close(): void {
    for (const call of this.#calls.items) this.#expire(call);
    this.rest();
  }

  #settle(): void {
    if (this.#calls.size === 0) this.#calls.stop();
  }

  #look(late: number): void {
    const now = this.#clock.now();
    // What lies in the sockets is read before the next timer. Once: a loop that is always late must not wait for ever.
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
