import type { Choice } from './choice.ts';
import type { Wire } from './engine.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** What may happen to messages. Parts of 1, and ms. */
export interface Weather {
  /** Of a request on its way, so that nothing happened; of a reply, so that nobody knows that it did. */
  readonly loseRequest: number;
  readonly loseReply: number;
  readonly loseWake: number;
  /** Of connections that break with a request on its way, which arrives all the same: its sender has given up by then. */
  readonly breaks: number;
  /** Messages that take `late` at most, instead of `delay`. */
  readonly slow: number;
  readonly late: number;
  readonly delay: number;
}

export const CALM: Weather = { loseRequest: 0, loseReply: 0, loseWake: 0, breaks: 0, slow: 0, late: 0, delay: 10 };

/** Between the processes and the engine: each message has a fate of its own, and none waits for another. */
export class Network implements Wire {
  weather: Weather;
  onFault: (kind: string) => void = () => {};
  readonly #onCall = new Map<Process, () => void>();
  readonly #cutUntil = new Map<Process, number>();
  #refusal: { readonly until: number; readonly error: () => Error } | undefined;
  readonly #world: World;
  readonly #choice: Choice;

  constructor(world: World, choice: Choice, weather: Weather) {
    this.#world = world;
    this.#choice = choice;
    this.weather = weather;
  }

  /** Nothing gets through, either way, for a while. */
  cut(process: Process, ms: number): void {
    this.#cutUntil.set(process, this.#world.now + ms);
  }

  /** The engine answers every request with an error, and does nothing, for a while. */
  refuse(ms: number, error: () => Error): void {
    this.#refusal = { until: this.#world.now + ms, error };
  }

  /** When the process sends its next request. */
  onCall(process: Process, fn: () => void): void {
    this.#onCall.set(process, fn);
  }

  heal(): void {
    this.#onCall.clear();
    this.#cutUntil.clear();
    this.#refusal = undefined;
    this.weather = CALM;
  }

  /** A request of `process`: `work` is what the engine does when it arrives, and its machine is not paused. */
  call<T>(process: Process, machine: Process, work: () => Promise<T>): Promise<T> {
    process.connect();
    this.#onCall.get(process)?.();
    this.#onCall.delete(process);
    return new Promise<T>((resolve, reject) => {
      // Some losses are noticed, others only by whoever stops waiting.
      const fail = (): void => {
        if (this.#choice.chance(0.5)) return;
        this.#world.in(this.#delay(), () => process.deliver(() => reject(new Error('connection reset'))));
      };
      if (this.#lost(process, this.weather.loseRequest, 'request lost')) {
        fail();
        return;
      }
      const delay = this.#delay();
      if (this.#choice.chance(this.weather.breaks)) {
        this.onFault('request outruns its sender');
        const broken = new Error('the connection broke');
        this.#world.in(this.#choice.between(0, delay), () => process.deliver(() => reject(broken)));
      }
      this.#world.in(delay, () =>
        machine.deliver(() => {
          void this.#served(work).then(
            (answer) => {
              if (this.#lost(process, this.weather.loseReply, 'reply lost')) fail();
              else this.#world.in(this.#delay(), () => process.deliver(() => resolve(answer)));
            },
            (error) => this.#world.in(this.#delay(), () => process.deliver(() => reject(error))),
          );
        }),
      );
    });
  }

  #served<T>(work: () => Promise<T>): Promise<T> {
    const { until, error } = this.#refusal ?? { until: 0 };
    if (this.#world.now >= until) return work();
    this.onFault('refused');
    return Promise.reject(error!());
  }

  /** Word from the engine that nobody asked for. */
  tell(process: Process, _machine: Process, work: () => void): void {
    if (this.#lost(process, this.weather.loseWake, 'wake lost')) return;
    this.#world.in(this.#delay(), () => process.deliver(work));
  }

  #lost(process: Process, part: number, kind: string): boolean {
    const lost = this.#choice.chance(part) || this.#world.now < (this.#cutUntil.get(process) ?? 0);
    if (lost) this.onFault(kind);
    return lost;
  }

  #delay(): number {
    const { slow, late, delay } = this.weather;
    return this.#choice.chance(slow) ? this.#choice.between(delay, late) : this.#choice.between(0.1, delay);
  }
}
