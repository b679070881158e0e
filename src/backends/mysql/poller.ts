import { admitted } from '../../core/admission.ts';
import type { Claim, Grant } from '../../core/backend.ts';
import type { Cancel, Clock } from '../../core/clock.ts';
import { grantOf, type Line } from './line.ts';
import { parse, survey } from './place.ts';

/** Whoever is far back in a line looks less often, up to this many times. */
const FARTHEST = 8;
/** Part of each pause that is random, so that processes that began together part. */
const JITTER = 0.25;

/** A claim that waits, and how to tell it. */
interface Waiter {
  readonly claim: Claim;
  wake(grant?: Grant): void;
}

/** Looks at the lines of all claims that wait in this process with one query, again and again while there are any. */
export class Poller {
  readonly #waiters = new Map<string, Waiter>();
  readonly #clock: Clock;
  readonly #pause: number;
  readonly #look: (keys: readonly string[]) => Promise<Map<string, Line>>;
  #cancel: Cancel | undefined;
  #looking = false;
  /** Looked at again at once when the look under way is over. */
  #again = false;

  /** @param pause ms between two looks for the first in a line */
  constructor(clock: Clock, pause: number, look: (keys: readonly string[]) => Promise<Map<string, Line>>) {
    this.#clock = clock;
    this.#pause = pause;
    this.#look = look;
  }

  watch(claim: Claim, wake: (grant?: Grant) => void): AsyncDisposable {
    const waiter = { claim, wake };
    this.#waiters.set(claim.id, waiter);
    if (!this.#cancel && !this.#looking) this.#schedule(1);
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#waiters.get(claim.id) === waiter) this.#forget(claim.id);
      },
    };
  }

  /** Looks at once: something has changed. */
  hurry(): void {
    if (this.#looking) this.#again = true;
    else if (this.#waiters.size > 0) void this.#round();
  }

  close(): void {
    this.#waiters.clear();
    this.#stop();
  }

  #forget(id: string): void {
    this.#waiters.delete(id);
    if (this.#waiters.size === 0) this.#stop();
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #schedule(ahead: number): void {
    const pause = this.#pause * Math.min(Math.max(ahead, 1), FARTHEST);
    this.#cancel = this.#clock.after(pause * (1 - JITTER * this.#clock.random()), () => void this.#round(), true);
  }

  async #round(): Promise<void> {
    this.#stop();
    this.#looking = true;
    let nearest = FARTHEST;
    try {
      do {
        this.#again = false;
        const keys = new Set([...this.#waiters.values()].map(({ claim }) => claim.key));
        const lines = await this.#look([...keys]);
        nearest = this.#tell(lines);
      } while (this.#again && this.#waiters.size > 0);
    } catch {
      // The waiters' own timers ask, and say what is wrong; this one goes on looking.
    }
    this.#looking = false;
    if (this.#waiters.size > 0) this.#schedule(nearest);
  }

  /** Wakes whoever is admitted, and whoever can clear the dead ahead; how far the nearest of the others is from it. */
  #tell(lines: ReadonlyMap<string, Line>): number {
    let nearest = FARTHEST;
    const parsed = new Map([...lines].map(([key, { text }]) => [key, parse(text)]));
    for (const { claim, wake } of [...this.#waiters.values()]) {
      const places = parsed.get(claim.key) ?? [];
      const position = places.findIndex(({ id }) => id === claim.id);
      if (position < 0) continue; // not there yet, or lapsed: its next attempt shows
      const holds = admitted(places);
      const { text, now } = lines.get(claim.key)!;
      if (position < holds && places[position]!.until > now) {
        this.#forget(claim.id);
        wake(grantOf(places[position]!.ticket, claim));
      } else {
        if (survey(text, now).lapsed) wake();
        nearest = Math.min(nearest, position - holds + 1);
      }
    }
    return nearest;
  }
}
