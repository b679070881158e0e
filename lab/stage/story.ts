import type { Happening, What } from './events.ts';

type Listener = (happening: Happening) => void;

/** What is told of a run, in the order in which it happens. */
export class Story {
  readonly happenings: Happening[] = [];
  readonly #listeners: Listener[] = [];

  /** The story tells only once that a process asks again and is refused again. */
  tell(happening: Happening): void {
    const { who, what, other, place } = happening;
    if (what === 'refused' || what === 'looks-taken') {
      const last = this.happenings.findLast((each) => each.who === who && each.place === place);
      if (last?.what === what && last.other === other) return;
    }
    this.happenings.push(happening);
    for (const listener of [...this.#listeners]) listener(happening);
  }

  /** Calls `fn` when that is told for the first time from now on. */
  once(what: What, who: string, fn: () => void): void {
    const listener: Listener = (happening) => {
      if (happening.what !== what || happening.who !== who) return;
      this.#listeners.splice(this.#listeners.indexOf(listener), 1);
      fn();
    };
    this.#listeners.push(listener);
  }

  clear(): void {
    this.happenings.length = 0;
  }
}
