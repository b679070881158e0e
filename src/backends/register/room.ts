/** So many writes in a row on what the process itself wrote last; then it leaves room. */
const IN_A_ROW = 8;
/** For so many times as long as the last write took: another process reads and writes in the meantime, and begins at any moment. */
const TIMES = 3;

/**
 * When a process leaves room to others. It knows what it wrote last, so a change takes it one request. A process that comes to the line has to
 * read first: if nobody ever paused, it would find another version each time that it writes.
 */
export class Room {
  #inARow = 0;
  #version: string | undefined;
  #took = 0;
  #end = 0;

  /** @returns for how long others may change it before a change of this version, ms */
  pause(version: string | undefined, now: number): number {
    if (this.#inARow < IN_A_ROW || version !== this.#version) return 0;
    return Math.max(0, this.#end + TIMES * this.#took - now);
  }

  /** @param on the version that was there before @param version the one that is there now */
  wrote(on: string | undefined, version: string | undefined, sent: number, now: number): void {
    const atOnce = on === this.#version && sent - this.#end <= this.#took;
    this.#inARow = atOnce ? this.#inARow + 1 : 1;
    this.#version = version;
    this.#took = now - sent;
    this.#end = now;
  }
}
