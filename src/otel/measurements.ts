import type { Attributes, Counter, Histogram } from '@opentelemetry/api';

/** So many are handed over at a time: the SDK takes longer than all else, and is not to come in the middle of every lock. */
const MOST = 256;

/** What was measured with the same attributes, and is not handed over yet. */
export class Measurements {
  readonly #histogram: Histogram;
  readonly #attributes: Attributes;
  readonly #counter: Counter | undefined;
  #values: number[] = [];

  /** @param counter of the measurements themselves */
  constructor(histogram: Histogram, attributes: Attributes, counter?: Counter) {
    this.#histogram = histogram;
    this.#attributes = attributes;
    this.#counter = counter;
  }

  add(value: number): void {
    if (this.#values.push(value) >= MOST) this.handOver();
  }

  /** At the latest when metrics are collected. */
  handOver(): void {
    const values = this.#values;
    if (values.length === 0) return;
    this.#values = [];
    this.#counter?.add(values.length, this.#attributes);
    for (const value of values) this.#histogram.record(value, this.#attributes);
  }
}
