import { hash } from 'node:crypto';
import type { Clock } from './clock.ts';

/** What tells the claims of this process from those of all others: a word, and numbers. */
export class ProcessName {
  #word: string | undefined;
  #last = 0;

  /** Undefined before the first claim. */
  get known(): string | undefined {
    return this.#word;
  }

  /**
   * 8 characters: of 10,000 processes on one engine, two have the same once in 50,000 times.
   * @param id of a claim of this process: of the first one it is the digest, which says nothing of the id
   */
  word(id: string): string {
    this.#word ??= (Number.parseInt(hash('sha256', id).slice(0, 12), 16) % 36 ** 8).toString(36).padStart(8, '0');
    return this.#word;
  }

  /** The number of the next claim. */
  next(): number {
    return ++this.#last;
  }
}

const names = new WeakMap<Clock, ProcessName>();

/** All that is on one clock is one process, as a simulation has several of; so all `Locks` on the machine's clock share a name. */
export function processName(clock: Clock): ProcessName {
  let name = names.get(clock);
  if (!name) {
    name = new ProcessName();
    names.set(clock, name);
  }
  return name;
}
