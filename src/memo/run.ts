import type { HeldLease } from '../core/index.ts';
import type { MemoRun } from './result.ts';

/** One run of the function of a memo, for as long as it runs. */
export class FlightRun implements MemoRun {
  readonly #lease: HeldLease;
  readonly #controller = new AbortController();

  constructor(lease: HeldLease) {
    this.#lease = lease;
    const { signal } = lease;
    const end = (): void => this.abort(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
  }

  get key(): string {
    return this.#lease.key;
  }

  get token(): bigint {
    return this.#lease.token!;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get held(): boolean {
    return this.#lease.held;
  }

  get remaining(): number {
    return this.#lease.remaining;
  }

  assertHeld(): void {
    this.#lease.assertHeld();
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  toJSON(): object {
    const { key, token, held, remaining } = this;
    return { key, token: `${token}`, held, remaining };
  }
}
