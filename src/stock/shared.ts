/**
 * An act that many callers ask for at the same time. Callers that ask while one is under way share the next one, so it begins after each of them
 * asked, and many cost no more than one. Only callers with the same argument share.
 */
export class Shared<T, A = void> {
  readonly #act: (argument: A) => Promise<T>;
  #running: Promise<unknown> = Promise.resolve();
  #next: { readonly argument: A; readonly result: Promise<T> } | undefined;

  constructor(act: (argument: A) => Promise<T>) {
    this.#act = act;
  }

  ask(argument: A): Promise<T> {
    if (this.#next && this.#next.argument === argument) return this.#next.result;
    const result = this.#running.then(() => {
      if (this.#next?.result === result) this.#next = undefined;
      return this.#act(argument);
    });
    this.#next = { argument, result };
    this.#running = result.catch(() => {});
    return result;
  }
}
