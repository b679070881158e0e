import type { Duration } from '../core/contract/duration.ts';
import { leastOf } from '../core/contract/extremes.ts';
import type { AnyLease, LeaseRecord } from '../core/holds/lease.ts';

/** Several leases as one: lost when any part is. */
export class MultiLease implements AnyLease {
  /** @internal In the order they were taken. */
  readonly parts: readonly AnyLease[];
  /** The fencing token of each key that is held exclusively. */
  readonly tokens: ReadonlyMap<string, bigint>;
  #signal: AbortSignal | undefined;

  constructor(parts: readonly AnyLease[]) {
    this.parts = parts;
    this.tokens = new Map(
      parts.flatMap((part) => ('token' in part && part.token !== undefined ? [[part.key, part.token as bigint]] : [])),
    );
  }

  /** Aborted when the first part is lost, with its error as the reason. */
  get signal(): AbortSignal {
    this.#signal ??= firstOf(this.parts.map(({ signal }) => signal));
    return this.#signal;
  }

  /** The keys, for people. */
  get key(): string {
    return this.parts.map(({ key }) => key).join(', ');
  }

  /** Whether all parts are held, by the clock, now. */
  get held(): boolean {
    return this.parts.every(({ held }) => held);
  }

  /** ms until the first deadline of a part, unless renewed; 0 when one is not held. */
  get remaining(): number {
    return leastOf(this.parts.map(({ remaining }) => remaining));
  }

  /** @throws LockError of the first part that is not held */
  assertHeld(): void {
    for (const part of this.parts) part.assertHeld();
  }

  /** Each part, at once. Some may be longer when it throws. */
  async extend(ttl: Duration): Promise<void> {
    await Promise.all(this.parts.map((part) => part.extend(ttl)));
  }

  /** For logs: tokens as text, by key. */
  toJSON(): LeaseRecord & { readonly tokens: Readonly<Record<string, string>> } {
    const { key, held, remaining } = this;
    const tokens = Object.fromEntries([...this.tokens].map(([of, token]) => [of, `${token}`]));
    return { key, held, remaining, tokens };
  }

  /** Whether this call freed all of them. */
  async release(): Promise<boolean> {
    // At once: with an engine that does not answer, many take no longer than one.
    const freed = await Promise.all(this.parts.map((part) => part.release()));
    return freed.every(Boolean);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.parts.map((part) => part[Symbol.asyncDispose]()));
  }
}

/** Not `AbortSignal.any`: Node.js keeps what that returns for ever once somebody listens to it (nodejs/node#54614). */
function firstOf(signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    const abort = (): void => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  }
  return controller.signal;
}
