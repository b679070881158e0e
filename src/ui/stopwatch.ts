/** Times requests one after the other, without the time that this process itself computes. */
export class Stopwatch {
  readonly laps: number[] = [];
  #began = performance.now();
  #own = process.cpuUsage();

  /** Called when a request has been answered. */
  lap(): void {
    const [began, own] = [this.#began, this.#own];
    this.#began = performance.now();
    this.#own = process.cpuUsage();
    const computed = (this.#own.user - own.user + this.#own.system - own.system) / 1_000;
    // An engine may work on the next request while this process reads the last answer. So a part always counts.
    const took = this.#began - began;
    this.laps.push(Math.max(took - computed, took / 4));
  }
}
