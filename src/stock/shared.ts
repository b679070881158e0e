/**
 * An act that many ask for. Whoever comes while one is under way shares the next, with all others who come until then: so it begins
 * after each of them came, and a crowd costs no more than one.
 */
export class Shared<T> {
  readonly #act: () => Promise<T>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | undefined;

  constructor(act: () => Promise<T>) {
    this.#act = act;
  }

  ask(): Promise<T> {
    if (this.#next) return this.#next;
    const next = this.#running.then(() => {
      this.#next = undefined;
      return this.#act();
    });
    this.#next = next;
    this.#running = next.catch(() => {});
    return next;
  }
}
