import type { Attributes, Counter, Histogram } from '@opentelemetry/api';

/** How many values are handed over at a time. The SDK is slower than all else, and must not run inside every lock. */
const MOST = 256;

/** Values with the same attributes that are not handed over yet. */
export class Measurements {
  readonly #histogram: Histogram;
  readonly #attributes: Attributes;
  readonly #counter: Counter | undefined;
  #values: number[] = [];

  /** @param counter counts the values, too */
  constructor(histogram: Histogram, attributes: Attributes, counter?: Counter) {
    this.#histogram = histogram;
    this.#attributes = attributes;
    this.#counter = counter;
  }

  add(value: number): void {
    if (this.#values.push(value) >= MOST) this.handOver();
  }

  /** Called at the latest when metrics are collected. */
  handOver(): void {
    const values = this.#values;
    if (values.length === 0) return;
    this.#values = [];
    this.#counter?.add(values.length, this.#attributes);
    for (const value of values) this.#histogram.record(value, this.#attributes);
  }
}
