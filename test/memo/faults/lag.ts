const EVERY = 20;

/** How late the machine lets this process do what is due: what nobody else can be blamed for. */
export class Lag implements Disposable {
  /** ms, at worst. */
  most = 0;
  readonly #timer: NodeJS.Timeout;

  constructor() {
    let due = performance.now() + EVERY;
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.most = Math.max(this.most, now - due);
      due = now + EVERY;
    }, EVERY).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
