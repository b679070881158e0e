import { backOff } from '../../core/claims/pause.ts';
import type { Hints } from '../../core/contract/backend.ts';
import { sleep } from '../../core/contract/promises.ts';
import { type Calls, MOST_CONFLICTS } from './calls.ts';
import { noteOf, noteText } from './document.ts';
import { nameOf } from './names.ts';
import { byStore, Sightings } from './sightings.ts';

/** How rivals part. */
export const RIVALRY = { pause: 2, jitter: 1, bound: 250 };

/** Notes in a register. The last write stays. Without a clock of the store, a note is over when it was seen unchanged for its time. */
export class RegisterNotes implements Hints {
  readonly #calls: Calls;
  /** Where the store has no clock. */
  readonly #seen = new Sightings(1_000);

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  async read(name: string): Promise<string | undefined> {
    const { clock, store } = this.#calls;
    const sent = clock.now();
    const { text, version, now } = await this.#calls.read(this.#nameOf(name));
    if (text === undefined) return undefined;
    const note = noteOf(text, name, store.name);
    if (note.text === null) return undefined;
    const received = clock.now();
    const place = { ...note, id: version ?? '', beat: 0 };
    this.#seen.see(name, [place], received);
    const sight = now === undefined ? this.#seen.by(name, received) : byStore(now, received - sent);
    return sight.remaining(place) > 0 ? note.text : undefined;
  }

  async write(name: string, text: string | undefined, ttl: number): Promise<void> {
    const { clock, store } = this.#calls;
    for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
      const sent = clock.now();
      const { text: before, version, now } = await this.#calls.read(this.#nameOf(name));
      if (before !== undefined) noteOf(before, name, store.name);
      if (text === undefined && before === undefined) return;
      if (text === undefined && store.remove) return store.remove(this.#nameOf(name));
      await this.#calls.proof?.passed();
      const at = now === undefined ? undefined : now + clock.now() - sent;
      const words = { text: text ?? null, life: ttl, ...(at !== undefined && { at }) };
      const { taken } = await this.#calls.write(this.#nameOf(name), noteText(name, words, this.#calls.mark()), version);
      if (taken) return;
      await sleep(clock, backOff(RIVALRY, conflicts, clock.random()));
    }
    throw new Error(`others wrote the note ${MOST_CONFLICTS} times in a row`);
  }

  #nameOf(name: string): string {
    return `${this.#calls.prefix}/n/${nameOf(name)}`;
  }
}
