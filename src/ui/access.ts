import type { Locks } from '../locks.ts';

/** Opens the engine when somebody first needs it, and tries again until that succeeds. */
export class Access {
  readonly #open: () => Promise<Locks>;
  #locks: Locks | undefined;
  #opening: Promise<Locks> | undefined;
  #ended = false;

  constructor(open: () => Promise<Locks>) {
    this.#open = open;
  }

  /** Whether the engine has answered once. */
  get opened(): boolean {
    return this.#locks !== undefined;
  }

  /** @throws LockError as `connect` does */
  async locks(): Promise<Locks> {
    if (this.#locks) return this.#locks;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    const locks = await this.#opening;
    if (this.#ended) await locks.close();
    this.#locks = locks;
    return locks;
  }

  async close(): Promise<void> {
    this.#ended = true;
    await this.#locks?.close();
  }
}
