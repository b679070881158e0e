import type { Backend, Claim, Grant } from '../contract/backend.ts';
import type { Clock } from '../contract/clock.ts';
import { inNoContext } from '../contract/context.ts';
import { promiseOf } from '../contract/promises.ts';
import { Bell } from './bell.ts';

/** A watch that is asked for and not there yet. */
const ARMING: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} };

/** What a waiting claim hears from the engine without asking: its bell, its mail, and the watch that serves both. */
export class Listener extends Bell {
  /** The grant that came by itself. */
  mail: Grant | undefined;
  readonly #backend: Backend;
  #claim: Claim | undefined;
  #watch: AsyncDisposable | undefined;
  #distrusts = false;

  constructor(backend: Backend, clock: Clock) {
    super(clock);
    this.#backend = backend;
  }

  /**
   * Starts to watch; true when that is done at once. A watch that was not there before the last attempt rings when it is,
   * so that the claim is attempted once more.
   */
  arm(claim: Claim): boolean {
    if (this.#watch) return this.#watch !== ARMING;
    this.#claim = claim;
    const watch = this.#watchFor(claim);
    if (!isThenable(watch)) {
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
        if (this.#claim === claim) this.#watch = undefined; // the timer stands beside it, and the next round tries again
      },
    );
    return false;
  }

  /** What throws instead of rejecting is no more than a watch that is not there. */
  #watchFor(claim: Claim): ReturnType<NonNullable<Backend['watch']>> | undefined {
    try {
      return inNoContext(() =>
        this.#backend.watch?.(claim, (grant) => {
          if (this.#claim !== claim) return;
          if (!this.#distrusts) this.mail ??= grant;
          this.ring();
        }),
      );
    } catch {
      return undefined;
    }
  }

  /** Forgets the mail. What comes from now on for this claim only rings. */
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
  }
}

const isThenable = <T>(value: T | PromiseLike<T> | undefined): value is PromiseLike<T> =>
  typeof (value as PromiseLike<T> | undefined)?.then === 'function';

const ignored = (): void => {};

/** Not waited for, and not promiseOf of: it may hang, or throw. */
export function dispose(watch: AsyncDisposable | undefined): void {
  if (watch) inNoContext(promiseOf<void>, () => watch[Symbol.asyncDispose]() as Promise<void>).catch(ignored);
}
