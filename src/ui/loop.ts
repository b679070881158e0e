/** Repeats something while it is wanted, with the pauses that it asks for. */
export class Loop {
  readonly #once: (goesOn: () => boolean) => Promise<number>;
  #wanted = false;
  #running = false;
  #endPause: () => void = () => {};

  /**
   * @param once does it, never rejects, and gives the pause until the next time, ms; it may end early if nobody wants it any
   * more
   */
  constructor(once: (goesOn: () => boolean) => Promise<number>) {
    this.#once = once;
  }

  set wanted(wanted: boolean) {
    this.#wanted = wanted;
    if (wanted && !this.#running) void this.#run();
    if (!wanted) this.hurry();
  }

  /** Ends the current pause now. */
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
