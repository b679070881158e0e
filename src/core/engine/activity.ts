import type { Clock } from '../contract/clock.ts';
import { Bell } from './bell.ts';

/** The work under way on an engine, and the pauses in it. */
export class Activity {
  readonly #clock: Clock;
  readonly #pauses = new Set<Bell>();
  /** Rings when no work is under way. */
  readonly #idle: Bell;
  #underWay = 0;
  #over = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#idle = new Bell(clock);
  }

  /** Whether the `Locks` were closed. */
  get over(): boolean {
    return this.#over;
  }

  /** Work begins that may have to be cleaned up when it ends. */
  begin(): void {
    this.#underWay++;
  }

  end(): void {
    if (--this.#underWay === 0) this.#idle.ring();
  }

  /** Pauses, but not beyond the end of all work, nor of `signal`. In the background it does not keep the process alive. */
  async pause(ms: number, background = false, signal?: AbortSignal): Promise<void> {
    if (this.#over || signal?.aborted) return;
    const bell = new Bell(this.#clock);
    this.#pauses.add(bell);
    signal?.addEventListener('abort', bell.ring, { once: true });
    await bell.sleep(ms, background);
    signal?.removeEventListener('abort', bell.ring);
    this.#pauses.delete(bell);
  }

  /** Resolves when no work is under way, at the latest after `limit` ms. Then no work is tried again. */
  async quiet(limit: number): Promise<void> {
    const until = this.#clock.now() + limit;
    for (let left = limit; this.#underWay > 0 && left > 0; left = until - this.#clock.now())
      await this.#idle.sleep(left);
    this.#over = true;
    for (const bell of this.#pauses) bell.ring();
  }
}
