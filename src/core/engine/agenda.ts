import type { Cancel, Clock } from '../contract/clock.ts';

/**
 * Longest time that the timer outlives its items; the timer comes back to an item that is due later. Where items come and go, over
 * and over, setting and clearing a timer for each would cost more than the items. ms.
 */
const LINGER = 1_000;

/**
 * Items in no order, and one timer in the background for the first of them that is due. Each item knows its slot; below 0 it is in no
 * agenda. A Set that is filled and emptied again and again costs more.
 */
export class Agenda<T extends { slot: number }> {
  readonly #clock: Clock;
  readonly #ring: (late: number) => void;
  readonly #items: T[] = [];
  #due = Number.POSITIVE_INFINITY;
  /** When the timer is to fire. */
  #fires = Number.POSITIVE_INFINITY;
  #cancel: Cancel | undefined;

  /** @param ring looks for the items that are due and sets the timer for the rest; it gets by how much the timer is late, ms */
  constructor(clock: Clock, ring: (late: number) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The items as they are now: what is done with one may change the agenda. */
  get items(): T[] {
    return [...this.#items];
  }

  add(item: T, due: number): void {
    item.slot = this.#items.push(item) - 1;
    this.ringBy(due);
  }

  /** @returns whether it was in */
  remove(item: T): boolean {
    const { slot } = item;
    if (slot < 0) return false;
    const last = this.#items.pop()!;
    if (last !== item) {
      this.#items[slot] = last;
      last.slot = slot;
    }
    item.slot = -1;
    return true;
  }

  /** The timer is to ring at `due`, or before. */
  ringBy(due: number): void {
    const now = this.#clock.now();
    // A timer that a test made a fake one never fires again once timers are real.
    const missed = now > this.#fires + LINGER;
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
    const pause = Math.min(Math.max(0, this.#due - now), LINGER);
    this.#fires = now + pause;
    this.#cancel = this.#clock.after(pause, () => this.#wake(), true);
  }

  #wake(): void {
    const now = this.#clock.now();
    const late = now - this.#due;
    if (late < 0 && this.#items.length > 0) {
      this.#arm(now);
      return;
    }
    this.#due = Number.POSITIVE_INFINITY;
    this.#fires = Number.POSITIVE_INFINITY;
    if (late >= 0) this.#ring(late);
  }
}
