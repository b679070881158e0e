import type { History } from '../history.ts';
import { type Feature, type Kind, nameOf, type Place, type Primitive, pairOf } from './features.ts';

interface Stay {
  readonly by: string;
  readonly keys: readonly string[];
  readonly primitive: Primitive;
  readonly features: readonly Feature[];
  readonly from: number;
  to: number;
}

/** The requests of a history, each from the asking to the moment in which its caller goes on without what it had. */
function staysOf(history: History): Stay[] {
  const stays = new Map<number, Stay>();
  for (const [index, event] of history.events.entries()) {
    if (event.what === 'request') {
      const { by, keys } = event;
      const [primitive, features] = [event.primitive as Primitive, event.features as readonly Feature[]];
      stays.set(event.request, { by, keys, primitive, features, from: index, to: Number.POSITIVE_INFINITY });
    } else if (event.what === 'done') stays.get(event.request)!.to = index;
  }
  return [...stays.values()];
}

/** How often each pair was drawn. */
export class Coverage {
  readonly #times = new Map<string, number>();

  /** @param kind of the engine of this history */
  add(kind: Kind, history: History): void {
    const seen = new Set<string>();
    const note = (primitive: Primitive, place: Place, one: Feature, other: Feature): void => {
      seen.add(nameOf(pairOf(kind, primitive, place, one, other)));
    };
    const stays = staysOf(history);
    for (const [i, stay] of stays.entries()) {
      for (const [j, one] of stay.features.entries())
        for (const other of stay.features.slice(j + 1)) note(stay.primitive, 'together', one, other);
      for (const rival of stays.slice(i + 1)) {
        if (rival.from > stay.to || stay.from > rival.to) continue;
        if (!rival.keys.some((key) => stay.keys.includes(key))) continue;
        const place = rival.by === stay.by ? 'beside' : 'across';
        for (const one of stay.features)
          for (const other of rival.features) {
            note(stay.primitive, place, one, other);
            note(rival.primitive, place, one, other);
          }
      }
    }
    for (const name of seen) this.#times.set(name, this.times(name) + 1);
  }

  /** What was drawn at all. */
  get names(): string[] {
    return [...this.#times.keys()];
  }

  times(name: string): number {
    return this.#times.get(name) ?? 0;
  }
}
