import { around } from '../../../products/testing/around.ts';
import type { Backend, Claim, Wake } from '../../../src/core/contract/backend.ts';
import { type Clock, systemClock } from '../../../src/core/contract/clock.ts';

export const FAULTS = ['killed', 'stopped', 'cut'] as const;
export const STEPS = ['look', 'attempt', 'work', 'renew', 'release'] as const;
export type Step = (typeof STEPS)[number];

/** What is done to a process, and where: before a step is taken, or when the engine has taken it and the answer is not there yet. */
export interface Fault {
  readonly kind: (typeof FAULTS)[number];
  readonly step: Step;
  readonly side: 'before' | 'after';
  /** How long it stands still, or has no connection, ms. */
  readonly ms: number;
}

/**
 * One process, as an engine sees it: everything that it sends, hears or does by a timer ends when it is killed, waits while it is stopped,
 * and fails while it is cut off.
 */
export class FaultyProcess {
  readonly name: string;
  readonly backend: Backend;
  readonly clock: Clock;
  /** Resolves when it is killed. */
  readonly death: Promise<void>;
  /** When the fault was done to it, by `performance.now`. */
  struck: number | undefined;
  /** When the engine had words of it. */
  leftAt: number | undefined;
  crashed = false;
  readonly #fault: Fault | undefined;
  readonly #watches = new Set<AsyncDisposable>();
  #die!: () => void;
  /** What happens when it goes on; undefined while it runs. */
  #later: (() => void)[] | undefined;
  #cutUntil = 0;

  constructor(name: string, engine: Backend, fault?: Fault) {
    this.name = name;
    this.#fault = fault;
    this.death = new Promise((resolve) => {
      this.#die = resolve;
    });
    this.clock = {
      ...systemClock,
      after: (ms, fn, background) => {
        let ended = false;
        const fires = (): void => this.#runs(() => ended || fn()); // it may be ended while it waits for the process
        const cancel = systemClock.after(ms, fires, background);
        return () => {
          ended = true;
          cancel();
        };
      },
    };
    this.backend = around(engine, {
      attempt: (claim) => this.#call('attempt', () => engine.attempt(claim)),
      renew: (claims) => this.#call('renew', () => engine.renew(claims)),
      release: (handle, next) => this.#call(undefined, () => engine.release(handle, next)),
      store: (handle, value) =>
        this.#call('release', async () => {
          const stored = await engine.store!(handle, value);
          if (stored) this.leftAt ??= performance.now();
          return stored;
        }),
      values: {
        look: (key) => this.#call('look', () => engine.values!.look(key)),
        forget: (key) => engine.values!.forget(key),
      },
      ...(engine.watch && { watch: (claim, wake, age) => this.#watch(engine, claim, wake, age) }),
      close: async () => {},
    });
  }

  #runs(act: () => void): void {
    if (this.crashed) return;
    if (this.#later) this.#later.push(act);
    else act();
  }

  /** The process takes a step; the fault may be done to it there. Resolves when it can go on. */
  async reaches(step: Step, side: Fault['side'] = 'before'): Promise<void> {
    const fault = this.#fault;
    if (this.struck === undefined && fault?.step === step && fault.side === side) this.#strike(fault);
    await this.goesOn();
  }

  /** Resolves at once, when it goes on, or never. */
  goesOn(): Promise<void> {
    return new Promise((resolve) => this.#runs(resolve));
  }

  #strike({ kind, ms }: Fault): void {
    this.struck = performance.now();
    if (kind === 'cut') this.#cutUntil = this.struck + ms;
    else if (kind === 'stopped') {
      this.#later = [];
      setTimeout(() => {
        const later = this.#later!;
        this.#later = undefined;
        for (const act of later) act();
      }, ms);
    } else {
      this.crashed = true;
      this.#die();
      for (const watch of this.#watches) void watch[Symbol.asyncDispose]();
    }
  }

  /** @param step undefined: where no fault begins */
  async #call<T>(step: Step | undefined, send: () => Promise<T>): Promise<T> {
    await (step ? this.reaches(step) : this.goesOn());
    this.#assertConnected();
    const [answer] = await Promise.allSettled([send()]);
    await (step ? this.reaches(step, 'after') : this.goesOn());
    this.#assertConnected();
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  }

  get #cut(): boolean {
    return performance.now() < this.#cutUntil;
  }

  /** What a driver says: nobody knows whether the request was carried out. */
  #assertConnected(): void {
    if (this.#cut) throw new Error('the connection was cut');
  }

  async #watch(engine: Backend, claim: Claim, wake: Wake, age: number | undefined) {
    this.#assertConnected();
    const watch = await engine.watch!(claim, (grant) => this.#runs(() => this.#cut || wake(grant)), age);
    const own = {
      [Symbol.asyncDispose]: async () => {
        if (this.#watches.delete(own)) await watch[Symbol.asyncDispose]();
      },
    };
    this.#watches.add(own);
    if (this.crashed) await own[Symbol.asyncDispose]();
    return own;
  }
}
