import { AsyncResource } from 'node:async_hooks';
import type { Clock } from '../../src/core/contract/clock.ts';
import type { World } from './world.ts';

interface Timer {
  readonly fn: () => void;
}

/**
 * A process as the machine runs it: a clock that goes too fast or too slow, and pauses in which nothing runs. What arrived
 * meanwhile is read when it goes on, then the overdue timers fire in the order in which they were made, as in Node.
 */
export class Process {
  readonly clock: Clock;
  readonly name: string;
  crashed = false;
  readonly #world: World;
  /** In the order in which they were made. */
  readonly #timers = new Set<Timer>();
  readonly #overdue = new Set<Timer>();
  readonly #unread: (() => void)[] = [];
  #pausedUntil = 0;
  #connection: AsyncResource | undefined;

  /** @param rate of its clock: 1 is right */
  constructor(name: string, world: World, rate: number, random: () => number) {
    this.name = name;
    this.#world = world;
    const start = random() * 1e6;
    const now = (): number => start + world.now * rate;
    this.clock = {
      now,
      epoch: now,
      resync: now,
      after: (ms, fn) => {
        if (this.crashed) return () => {}; // what was under way at the crash begins nothing more
        const armed = new AsyncResource('timer'); // as Node has it: it fires in the context of who armed it
        const timer = { fn: () => armed.runInAsyncScope(fn) };
        this.#timers.add(timer);
        const cancel = world.in(Math.max(1, ms) / rate, () => this.#due(timer));
        return () => {
          this.#timers.delete(timer);
          cancel();
        };
      },
      turn: (fn) => {
        world.in(0, () => {
          if (!this.crashed) fn();
        });
      },
      random,
      id: () => Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join(''),
    };
  }

  get pending(): number {
    return this.#timers.size;
  }

  get paused(): boolean {
    return this.#world.now < this.#pausedUntil;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.after(ms, resolve));
  }

  /** Opens its connection, if that was not done before: what comes in is read in the context of who did. */
  connect(): void {
    this.#connection ??= new AsyncResource('connection');
  }

  /** Something for it comes in from outside. */
  deliver(fn: () => void): void {
    if (this.crashed) return;
    if (this.paused) this.#unread.push(fn);
    else if (this.#connection) this.#connection.runInAsyncScope(fn);
    else fn(); // a server, which opens none
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#world.now + ms);
    if (this.#pausedUntil < Number.POSITIVE_INFINITY) this.#world.at(this.#pausedUntil, () => this.#goOn());
  }

  /** Ends a pause now. */
  resume(): void {
    this.#pausedUntil = 0;
    this.#goOn();
  }

  crash(): void {
    this.crashed = true;
    this.#timers.clear();
  }

  #due(timer: Timer): void {
    if (!this.#timers.has(timer)) return;
    if (this.paused) this.#overdue.add(timer);
    else this.#fire(timer);
  }

  #fire(timer: Timer): void {
    this.#overdue.delete(timer);
    if (this.#timers.delete(timer)) timer.fn();
  }

  #goOn(): void {
    if (this.paused) return;
    for (const fn of this.#unread.splice(0)) this.#world.in(0, () => this.deliver(fn));
    for (const timer of this.#timers) if (this.#overdue.has(timer)) this.#world.in(0, () => this.#fire(timer));
  }
}

/** Gives a function that says whether all work is done. The work of a crashed process never ends, and does not count. */
export function workDone(
  sides: Iterable<{ readonly process: Pick<Process, 'crashed'>; readonly work: Promise<unknown> }>,
): () => boolean {
  const working = new Set(sides);
  for (const side of working) void side.work.then(() => working.delete(side));
  return () => [...working].every(({ process }) => process.crashed);
}
