import { signOfLife } from '../../../src/core/contract/terms.ts';
import type { Checker } from '../checkers.ts';
import { all, type Of, time } from '../events.ts';
import type { Event, History } from '../history.ts';

type Request = Of<Event, 'request'>;

/** A release, or what a caller of several gives up, and the way of the next one to its grant. ms */
const WAY = 60;
/** How long the lease of a waiter may be longer than what its holder counts on, ms. */
const MARGIN = 1_500;
/** After an eviction the callers of that process stand in the engine's line within this time. ms */
const AFTER_EVICTION = 2_100;

/** Whether somebody waits for a key that nobody has, event by event. */
class Keys {
  readonly #bound: number;
  readonly #terms: ReadonlyMap<number, Of<Event, 'terms'>>;
  /** Since when nobody believes to have it; and until when its last holders may keep it. */
  readonly #free = new Map<string, number>();
  readonly #kept = new Map<string, number>();
  /** Kept for `minHold`: nobody is woken by a lease that ends, so whoever waits may find out at its next sign of life only. */
  readonly #silent = new Set<string>();
  readonly #evicted = new Set<string>();
  readonly #waiting = new Map<number, Request>();

  constructor(history: History) {
    const { wakes, wakesLost } = history.scene;
    this.#bound = wakes === 'never' ? 600 : wakesLost ? 2_200 : 150;
    this.#terms = new Map(all(history, 'terms').map((terms) => [terms.hold, terms]));
  }

  *look(event: Event): Generator<string> {
    const { at } = event;
    switch (event.what) {
      case 'request':
        if (event.primitive !== 'reentrant') this.#waiting.set(event.request, event);
        return;
      case 'answer': {
        const request = this.#waiting.get(event.request);
        for (const key of request?.keys ?? []) yield* this.#idle(at, key);
        this.#waiting.delete(event.request);
        for (const key of request?.keys ?? []) this.#keeps(key, at + WAY);
        return;
      }
      case 'terms': {
        const { key, minHold } = event;
        this.#keeps(key, at + minHold + WAY);
        if (minHold > 0) this.#silent.add(key);
        else this.#silent.delete(key);
        return;
      }
      case 'believed':
        yield* this.#idle(at, event.key);
        if (event.holders.length > 0) this.#free.delete(event.key);
        else this.#free.set(event.key, at);
        for (const { hold } of event.holders) this.#keeps(event.key, at + (this.#terms.get(hold)?.linger ?? 0));
        return;
      case 'over':
        this.#keeps(event.key, event.closedUntil + 0.02 * (event.closedUntil - at) + MARGIN);
        return;
      case 'evicted':
        this.#evicted.add(event.key);
    }
  }

  #keeps(key: string, until: number): void {
    this.#kept.set(key, Math.max(this.#kept.get(key) ?? 0, until));
  }

  *#idle(at: number, key: string): Generator<string> {
    const free = this.#free.get(key);
    if (free === undefined) return;
    const waiting = [...this.#waiting.values()].filter(({ keys }) => keys.includes(key));
    // One that takes several has this one perhaps, and waits for another.
    if (waiting.some(({ keys }) => keys.length > 1)) return;
    const sign = this.#silent.has(key) ? Math.max(...waiting.map(signOfLife)) * 1.02 + 20 : 0;
    const bound = this.#bound + sign + (this.#evicted.has(key) ? AFTER_EVICTION : 0);
    for (const request of waiting) {
      const idle = at - Math.max(free, this.#kept.get(key) ?? 0, request.at);
      if (idle <= bound) continue;
      yield `${time(at)}: ${key} was free for ${time(idle)}, and request ${request.request} waited (${request.primitive} with ${request.features.join(' and ')}, of ${request.by})`;
    }
  }
}

/** Nobody waits while nobody has the key, beyond what its last holders keep it for. */
export const idleness: Checker = (history) => {
  if (!history.scene.calm) return [];
  const keys = new Keys(history);
  return history.events.flatMap((event) => [...keys.look(event)]);
};
