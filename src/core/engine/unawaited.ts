/** The number of releases that may be under way while no caller waits for them. */
const MOST = 256;

/** The releases under way that no caller waits for. None of them rejects. */
export class Unawaited {
  #count = 0;

  /** @returns false if there are too many, so that the caller has to wait for this one */
  add(release: Promise<unknown>): boolean {
    if (this.#count >= MOST) return false;
    this.#count++;
    const end = (): void => {
      this.#count--;
    };
    release.then(end, end);
    return true;
  }
}
