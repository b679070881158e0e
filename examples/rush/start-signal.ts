import { setTimeout as pass } from 'node:timers/promises';
import { settleWithin } from '../../test/kit/wait.ts';

/** No rush takes this long to begin. ms. */
const LIMIT = 15_000;

/**
 * The start signal of a rush in several processes, as one of them sees it. Nobody has an answer about the price before everybody in
 * every process has tapped: so what goes wrong when all tap in the same moment goes wrong every time, however busy the machine is.
 */
export class StartSignal {
  #missing = 0;
  #everyone = Promise.withResolvers<void>();
  #given = Promise.withResolvers<void>();
  #work = 0;

  /** @param work ms that a check of the price takes, give or take half */
  expect(taps: number, work: number): void {
    this.#missing = taps;
    this.#work = work;
    this.#everyone = Promise.withResolvers();
    this.#given = Promise.withResolvers();
    if (taps === 0) this.#everyone.resolve();
  }

  tapped(): void {
    if (--this.#missing === 0) this.#everyone.resolve();
  }

  /** Everybody in this process has tapped. */
  everyone(): Promise<void> {
    return settleWithin('everybody has tapped', this.#everyone.promise, LIMIT);
  }

  give(): void {
    this.#given.resolve();
  }

  /** What a real service asks between reading and writing: what is the price, is the driver near enough, is the card good. */
  async checkPrice(): Promise<void> {
    await settleWithin('the start signal', this.#given.promise, LIMIT);
    await pass(this.#work * (0.5 + Math.random()));
  }
}

/** The calls by which it is given. */
export interface Starting {
  everyone(): Promise<void>;
  give(): void;
}

/** To all processes of the rush: everybody is there, go. */
export async function start(processes: readonly { call(name: keyof Starting): Promise<unknown> }[]): Promise<void> {
  await Promise.all(processes.map((process) => process.call('everyone')));
  await Promise.all(processes.map((process) => process.call('give')));
}
