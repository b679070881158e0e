/** Does something again and again, with the pauses that it asks for, as long as it is wanted. */
export class Loop {
  readonly #once: (goesOn: () => boolean) => Promise<number>;
  #wanted = false;
  #running = false;
  #endPause: () => void = () => {};

  /** @param once gives the pause until the next time, ms; it never rejects. It may end early when it is not wanted any more. */
  constructor(once: (goesOn: () => boolean) => Promise<number>) {
    this.#once = once;
  }

  set wanted(wanted: boolean) {
    this.#wanted = wanted;
    if (wanted && !this.#running) void this.#run();
    if (!wanted) this.hurry();
  }

  /** The pause that is under way ends now. */
  hurry(): void {
    this.#endPause();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#wanted) {
      const pause = await this.#once(() => this.#wanted);
      if (this.#wanted) await this.#sleep(pause);
    }
    this.#running = false;
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
