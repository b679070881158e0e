import { admitted } from '../../core/contract/admission.ts';
import type { Claim, Grant } from '../../core/contract/backend.ts';
import type { Cancel, Clock } from '../../core/contract/clock.ts';
import { WaitingClaims } from '../shared/waiting-claims.ts';
import type { Line } from './lines.ts';
import { liveLine, parse } from './stored-line.ts';
import { grantOf } from './verdict.ts';

/** The farther back in a line, the longer the pause: up to this many times as long. */
const FARTHEST = 8;
/** The random part of each pause, so that processes that began together do not stay together. */
const JITTER = 0.25;

/** Looks at the lines of all claims that wait in this process, by one query, again and again while there are any. */
export class Poller {
  readonly #waiting = new WaitingClaims();
  readonly #clock: Clock;
  readonly #pause: number;
  readonly #look: (keys: readonly string[]) => Promise<Map<string, Line>>;
  #cancel: Cancel | undefined;
  #looking = false;
  /** When the look under way is over, another one follows at once. */
  #again = false;

  /** @param pause ms between two looks for the first in a line */
  constructor(clock: Clock, pause: number, look: (keys: readonly string[]) => Promise<Map<string, Line>>) {
    this.#clock = clock;
    this.#pause = pause;
    this.#look = look;
  }

  watch(claim: Claim, wake: (grant?: Grant) => void): AsyncDisposable {
    const watch = this.#waiting.watch(claim, wake, () => this.#rest());
    if (!this.#cancel && !this.#looking) this.#schedule(1);
    return watch;
  }

  /** Something has changed: looks at once. */
  hurry(): void {
    if (this.#looking) this.#again = true;
    else if (this.#waiting.size > 0) void this.#round();
  }

  close(): void {
    this.#waiting.clear();
    this.#stop();
  }

  #rest(): void {
    if (this.#waiting.size === 0) this.#stop();
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
        const keys = new Set([...this.#waiting.values()].map(({ claim }) => claim.key));
        const lines = await this.#look([...keys]);
        nearest = this.#tell(lines);
      } while (this.#again && this.#waiting.size > 0);
    } catch {
      // Each waiter also asks by itself, and says what is wrong. This goes on looking.
    }
    this.#looking = false;
    if (this.#waiting.size > 0) this.#schedule(nearest);
  }

  /** Wakes the claims that are admitted, or have lapsed claims ahead to clear. @returns how far the nearest other claim is from its turn */
  #tell(lines: ReadonlyMap<string, Line>): number {
    let nearest = FARTHEST;
    const parsed = new Map([...lines].map(([key, { text }]) => [key, parse(text)]));
    for (const { claim, wake } of [...this.#waiting.values()]) {
      const places = parsed.get(claim.key) ?? [];
      const position = places.findIndex(({ id }) => id === claim.id);
      if (position < 0) continue; // it has not joined yet, or has lapsed: its next attempt will tell
      const holds = admitted(places);
      const { text, now } = lines.get(claim.key)!;
      if (position < holds && places[position]!.until > now) {
        this.#waiting.delete(claim.id);
        this.#rest();
        wake(grantOf(places[position]!.ticket, claim));
      } else {
        if (liveLine(text, now).lapsed) wake();
        nearest = Math.min(nearest, position - holds + 1);
      }
    }
    return nearest;
  }
}
