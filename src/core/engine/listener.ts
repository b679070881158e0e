import type { Backend, Claim, Grant, Refusal, StoredValue } from '../contract/backend.ts';
import { type Clock, inNoContext } from '../contract/clock.ts';

/** A sleep that can be ended early. A wake while nobody sleeps ends the next sleep at once. */
export class Sleeper {
  readonly #clock: Clock;
  /** Whether a wake came since the last sleep. */
  woken = false;
  #end: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly wake = (): void => {
    this.woken = true;
    this.#end?.();
  };

  /** Resolves after a wake, at the latest after `ms`. */
  async sleep(ms: number, background = false): Promise<void> {
    if (!this.woken) {
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.after(ms, resolve, background);
        this.#end = () => {
          cancel();
          resolve();
        };
      });
      this.#end = undefined;
    }
    this.woken = false;
  }
}

/** Stands for the watch of a claim until the engine has armed the watch. */
const ARMING: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} };

/** Receives the notifications of the engine for a waiting claim: they wake the claim, and may bring a grant or a value. */
export class Listener extends Sleeper {
  /** The grant that the engine sent by itself. */
  grant: Grant | undefined;
  /** The value that the engine sent by itself, in a refusal, as an attempt would return it. */
  answer: Refusal | undefined;
  readonly #backend: Backend;
  readonly #clock: Clock;
  #claim: Claim | undefined;
  #watch: AsyncDisposable | undefined;
  #ignoresGrants = false;

  constructor(backend: Backend, clock: Clock) {
    super(clock);
    this.#backend = backend;
    this.#clock = clock;
  }

  /** Whether a notification since the last sleep may be about an eviction: it brought nothing, though the engine can bring a grant. */
  get doubt(): boolean {
    return this.woken && !this.grant && this.#backend.traits.wakes === 'buffered';
  }

  /**
   * Arms the watch. If the watch cannot know what happened since the last attempt, the claim wakes, and is attempted once more.
   * @param sent when the last attempt was sent, if there was any
   * @returns true when the watch is armed at once
   */
  arm(claim: Claim, sent?: number): boolean {
    if (this.#watch) return this.#watch !== ARMING;
    this.#claim = claim;
    if (claim.accepts) this.#ignoresGrants = true; // a value may be there by now, and only an attempt finds it
    const watch = this.#watchFor(claim, sent === undefined ? undefined : this.#clock.now() - sent);
    if (!(watch && 'then' in watch)) {
      this.#watch = watch;
      if (watch && this.#backend.traits.wakes === 'watch') this.wake();
      return Boolean(watch);
    }
    this.#watch = ARMING;
    watch.then(
      (armed) => {
        if (this.#claim !== claim) return dispose(armed);
        this.#watch = armed;
        this.wake();
      },
      () => {
        if (this.#claim === claim) this.#watch = undefined; // the timer wakes the claim, which then arms the watch again
      },
    );
    return false;
  }

  /** If the backend throws, the claim has no watch for now. */
  #watchFor(claim: Claim, age: number | undefined): ReturnType<NonNullable<Backend['watch']>> | undefined {
    try {
      return inNoContext(() => this.#backend.watch?.(claim, (grant, value) => this.#receive(claim, grant, value), age));
    } catch {
      return undefined;
    }
  }

  #receive(claim: Claim, grant: Grant | undefined, value: StoredValue | undefined): void {
    if (this.#claim !== claim) return;
    // A grant may be older than the eviction, also one that comes later: messages may overtake each other.
    if (!grant && !value) this.ignoreGrants();
    if (!this.#ignoresGrants) this.grant ??= grant;
    // A claim that accepts only values up to a given age attempts again, and the engine compares their age.
    if (value && claim.accepts?.age === Number.POSITIVE_INFINITY) this.answer ??= { granted: false, value };
    this.wake();
  }

  /** Drops the grant. From now on a notification only wakes this claim. */
  ignoreGrants(): void {
    this.#ignoresGrants = true;
    this.grant = undefined;
  }

  /** Ends the watch, and drops the grant and the value of its notifications. */
  disarm(): void {
    dispose(this.#watch);
    this.#watch = undefined;
    this.#claim = undefined;
    this.#ignoresGrants = false;
    this.grant = undefined;
    this.answer = undefined;
  }
}

const ignore = (): void => {};

/** Ends a watch. A backend that hangs or throws here must do no harm, so nobody waits for it, and its errors are ignored. */
export function dispose(watch: AsyncDisposable | undefined): void {
  if (watch) inNoContext(async () => watch[Symbol.asyncDispose]()).catch(ignore);
}
