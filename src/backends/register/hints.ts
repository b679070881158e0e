import { backOff, type Hints, sleep } from '../../core/index.ts';
import { type Calls, MAX_CONFLICTS } from './calls.ts';
import { hintOf, hintText, nameOf } from './document.ts';
import { Sightings } from './sightings.ts';

/** The random pause after a refused write, so that rival processes do not write at the same time again, ms. */
export const RIVALRY = { pause: 2, jitter: 1, bound: 250 };

/** Hints in a register. The last write wins. If the store has no clock, a process ignores a hint that it has seen unchanged for the hint's ttl. */
export class RegisterHints implements Hints {
  readonly #calls: Calls;
  /** Used if the store has no clock. */
  readonly #seen = new Sightings(1_000);

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  async read(name: string): Promise<string | undefined> {
    const { clock, store } = this.#calls;
    const { text, version, now } = await this.#calls.read(this.#nameOf(name));
    if (text === undefined) return undefined;
    const hint = hintOf(text, name, store.name);
    if (hint.text === null) return undefined;
    const received = clock.resync();
    const seen = { ...hint, id: version ?? '' };
    this.#seen.see(name, [seen], received);
    return this.#seen.by(name, received, now).remaining(seen) > 0 ? hint.text : undefined;
  }

  async write(name: string, text: string | undefined, ttl: number): Promise<void> {
    const { clock, store } = this.#calls;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const sent = clock.now();
      const { text: before, version, now } = await this.#calls.read(this.#nameOf(name));
      if (before !== undefined) hintOf(before, name, store.name);
      if (text === undefined && before === undefined) return;
      if (text === undefined && store.remove) return store.remove(this.#nameOf(name));
      await this.#calls.proof?.passed();
      const expires = now === undefined ? {} : { expires: now + clock.now() - sent + ttl };
      const hint = { text: text ?? null, life: ttl, ...expires };
      const { taken } = await this.#calls.write(this.#nameOf(name), hintText(name, hint, this.#calls.mark()), version);
      if (taken) return;
      await sleep(clock, backOff(RIVALRY, conflicts, clock.random()));
    }
    throw new Error(`others wrote the hint ${MAX_CONFLICTS} times in a row`);
  }

  #nameOf(name: string): string {
    return `${this.#calls.prefix}/n/${nameOf(name)}`;
  }
}
