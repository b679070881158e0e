/** Times requests one after the other, without what this process itself computes meanwhile. */
export class Stopwatch {
  readonly laps: number[] = [];
  #began = performance.now();
  #own = process.cpuUsage();

  /** A request has been answered. */
  lap(): void {
    const [began, own] = [this.#began, this.#own];
    this.#began = performance.now();
    this.#own = process.cpuUsage();
    const computed = (this.#own.user - own.user + this.#own.system - own.system) / 1_000;
    // An engine may work on the next request while this process takes in the last one: a part is always counted.
    const took = this.#began - began;
    this.laps.push(Math.max(took - computed, took / 4));
  }
}
