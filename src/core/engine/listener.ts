import type { Backend, Claim, Grant, Refusal, StoredValue } from '../contract/backend.ts';
import { type Clock, inNoContext } from '../contract/clock.ts';

/** A sleep that can be ended early. A ring while nobody sleeps is kept for the next sleep. */
export class Bell {
  readonly #clock: Clock;
  #rung = false;
  #end: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly ring = (): void => {
    this.#rung = true;
    this.#end?.();
  };

  /** Resolves after a ring, at the latest after `ms`. */
  async sleep(ms: number, background = false): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.after(ms, resolve, background);
        this.#end = () => {
          cancel();
          resolve();
        };
      });
      this.#end = undefined;
    }
    this.#rung = false;
  }
}

/** Stands for a watch until the engine has armed it. */
const ARMING: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} };

/** Receives what the engine tells a waiting claim: its bell, its mail, and the watch that serves both. */
export class Listener {
  /** The grant that the engine sent by itself. */
  mail: Grant | undefined;
  /** The value that the engine sent by itself, as a refusal has it. */
  answer: Refusal | undefined;
  readonly #backend: Backend;
  readonly #clock: Clock;
  /** Most claims are granted before they need one. */
  #bell: Bell | undefined;
  #claim: Claim | undefined;
  #watch: AsyncDisposable | undefined;
  #distrusts = false;

  constructor(backend: Backend, clock: Clock) {
    this.#backend = backend;
    this.#clock = clock;
  }

  ring(): void {
    this.#bell ??= new Bell(this.#clock);
    this.#bell.ring();
  }

  /** Resolves after a ring, at the latest after `ms`. */
  sleep(ms: number): Promise<void> {
    this.#bell ??= new Bell(this.#clock);
    return this.#bell.sleep(ms);
  }

  /**
   * Starts to watch. A watch that does not know what came since the last attempt rings then, so that the claim is attempted once more.
   * @param sent when the last attempt was sent, if there was any
   * @returns true when it is armed at once
   */
  arm(claim: Claim, sent?: number): boolean {
    if (this.#watch) return this.#watch !== ARMING;
    this.#claim = claim;
    if (claim.accepts) this.#distrusts = true; // a value may be there by now, and only an attempt tells
    const watch = this.#watchFor(claim, sent === undefined ? undefined : this.#clock.now() - sent);
    if (!(watch && 'then' in watch)) {
      this.#watch = watch;
      if (watch && this.#backend.traits.wakes === 'watch') this.ring();
      return Boolean(watch);
    }
    this.#watch = ARMING;
    watch.then(
      (armed) => {
        if (this.#claim !== claim) return dispose(armed);
        this.#watch = armed;
        this.ring();
      },
      () => {
        if (this.#claim === claim) this.#watch = undefined; // the timer wakes the claim, and the next round tries again
      },
    );
    return false;
  }

  /** A backend that throws here has no watch for now. */
  #watchFor(claim: Claim, age: number | undefined): ReturnType<NonNullable<Backend['watch']>> | undefined {
    try {
      return inNoContext(() => this.#backend.watch?.(claim, (grant, value) => this.#receive(claim, grant, value), age));
    } catch {
      return undefined;
    }
  }

  #receive(claim: Claim, grant: Grant | undefined, value: StoredValue | undefined): void {
    if (this.#claim !== claim) return;
    if (!this.#distrusts) this.mail ??= grant;
    // A claim that accepts only values up to a given age attempts again, and the engine compares their age.
    if (value && claim.accepts?.age === Number.POSITIVE_INFINITY) this.answer ??= { granted: false, value };
    this.ring();
  }

  /** Forgets the mail. From now on a wake of this claim only rings, and brings no grant. */
  distrustMail(): void {
    this.#distrusts = true;
    this.mail = undefined;
  }

  /** Ends the watch and forgets the mail. */
  disarm(): void {
    dispose(this.#watch);
    this.#watch = undefined;
    this.#claim = undefined;
    this.#distrusts = false;
    this.mail = undefined;
    this.answer = undefined;
  }
}

const ignore = (): void => {};

/** Ends a watch. It neither waits for the backend nor throws its errors, since the backend may hang or throw there. */
export function dispose(watch: AsyncDisposable | undefined): void {
  if (watch) inNoContext(async () => watch[Symbol.asyncDispose]()).catch(ignore);
}
