import type { Cancel, Clock } from '../contract/clock.ts';

/**
 * The longest time for which a timer is set, ms. If an item is due later, the timer is set again. So a timer that no item needs any more stays for at
 * most this long. A timer for each item would cost more than all other work on the item.
 */
const TIMER_LINGER_MS = 1_000;

/** Items in no order, and one timer for the item due first. Each item knows its slot in the array (below 0: it has none): faster than a Set. */
export class Agenda<T extends { slot: number }> {
  readonly #clock: Clock;
  readonly #onDue: (late: number) => void;
  readonly #background: boolean;
  readonly #items: T[] = [];
  #due = Number.POSITIVE_INFINITY;
  /** The time at which the timer fires. */
  #fires = Number.POSITIVE_INFINITY;
  #cancel: Cancel | undefined;
  #ending = false;

  /**
   * @param onDue looks for the items that are due, and sets the timer for the rest; `late` is the time by which the timer is late, ms
   * @param background true if the timer must not keep the process alive
   */
  constructor(clock: Clock, onDue: (late: number) => void, background = true) {
    this.#clock = clock;
    this.#onDue = onDue;
    this.#background = background;
  }

  get size(): number {
    return this.#items.length;
  }

  /** A copy of the items, since work on one item may change the agenda. */
  get items(): T[] {
    return [...this.#items];
  }

  add(item: T, due: number, now?: number): void {
    item.slot = this.#items.push(item) - 1;
    this.fireBy(due, now);
  }

  /** @returns whether the item was in the agenda */
  remove(item: T): boolean {
    const { slot } = item;
    if (slot < 0) return false;
    const last = this.#items.pop()!;
    if (last !== item) {
      this.#items[slot] = last;
      last.slot = slot;
    }
    item.slot = -1;
    if (this.#ending && this.#items.length === 0) this.stop();
    return true;
  }

  /** Keeps no timer, from now on, while there are no items. */
  endTimers(): void {
    this.#ending = true;
    if (this.#items.length === 0) this.stop();
  }

  /** Makes the timer fire at `due`, or before. */
  fireBy(due: number, now: number = this.#clock.now()): void {
    // A timer that was set while a test had fake timers never fires once timers are real again.
    const missed = now > this.#fires + TIMER_LINGER_MS;
    if (due >= this.#due && !missed) return;
    this.#due = Math.min(due, this.#due);
    this.#arm(now);
  }

  stop(): void {
    this.#due = Number.POSITIVE_INFINITY;
    this.#fires = Number.POSITIVE_INFINITY;
    this.#cancel?.();
  }

  #arm(now: number): void {
    this.#cancel?.();
    const pause = Math.min(Math.max(0, this.#due - now), TIMER_LINGER_MS);
    this.#fires = now + pause;
    this.#cancel = this.#clock.after(pause, () => this.#wake(), this.#background);
  }

  #wake(): void {
    const now = this.#clock.now();
    const late = now - this.#due;
    if (late < 0 && this.#items.length > 0) {
      this.#arm(now);
      return;
    }
    this.stop();
    if (late >= 0) this.#onDue(late);
  }
}

/** If a timer is late by this many ms, the process stood still: answers may have arrived that are not read yet. */
const STALL_MS = 20;

/** A call that is under way, or was. */
export interface Call {
  readonly due: number;
  /** The slot of the call among those under way. */
  slot: number;
  readonly onExpiry: () => void;
}

/**
 * Limits for the calls under way, with one timer for all. Nearly every call is answered long before its limit, and a timer for each would
 * cost more than many answers. The timer does not keep the process alive; the socket of the call does.
 */
export class CallTimeouts {
  readonly #clock: Clock;
  readonly #calls: Agenda<Call>;
  #gaveGrace = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#calls = new Agenda(clock, (late) => this.#look(late));
  }

  /** Begins the limit of a call that was sent at `now`. After `ms` it calls `expired`, unless the call has ended. */
  begin(ms: number, expired: () => void, now: number = this.#clock.now()): Call {
    const call: Call = { due: now + ms, slot: -1, onExpiry: expired };
    this.#calls.add(call, call.due, now);
    return call;
  }

  /** Ends the limit of a call that was answered or given up. @returns whether the call was still under way */
  end(call: Call): boolean {
    return this.#calls.remove(call);
  }

  /** Gives the answer, or after `ms` the error that `expired` makes. */
  bound<T>(answer: Promise<T>, ms: number, expired: () => Error, now: number = this.#clock.now()): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const call: Call = { due: now + ms, slot: -1, onExpiry: () => reject(expired()) };
    this.#calls.add(call, call.due, now);
    answer.then(
      (value) => {
        this.#calls.remove(call);
        resolve(value);
      },
      (error) => {
        this.#calls.remove(call);
        reject(error);
      },
    );
    return promise;
  }

  /** Keeps no timer, from now on, while no call is under way. The calls under way keep their limits. */
  endTimers(): void {
    this.#calls.endTimers();
  }

  /** Ends the calls under way as expired. */
  close(): void {
    for (const call of this.#calls.items) this.#expire(call);
    this.endTimers();
  }

  #look(late: number): void {
    const now = this.#clock.now();
    // After a stall, answers may wait in the sockets, and Node reads the sockets before the next timer. So the calls get one more turn, in which
    // their answers may come. If the timer is late again then, they expire: a process that is always late must not wait for ever.
    this.#gaveGrace = late > STALL_MS && !this.#gaveGrace;
    if (this.#gaveGrace) {
      this.#calls.fireBy(now + 1, now);
      return;
    }
    for (const call of this.#calls.items) {
      if (call.due <= now) this.#expire(call);
      else this.#calls.fireBy(call.due, now);
    }
  }

  #expire(call: Call): void {
    if (this.end(call)) call.onExpiry();
  }
}
