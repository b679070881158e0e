import { type AnyLease, type Duration, type LeaseRecord, leastOf, onAbort } from '../core/index.ts';

/** Several leases as one. It is lost when any part is lost. */
export class MultiLease implements AnyLease {
  /** @internal The leases, in the order in which they were taken. */
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

  /** The signal aborts when the first part is lost, with the error of that part as the reason. */
  get signal(): AbortSignal {
    this.#signal ??= firstOf(this.parts.map(({ signal }) => signal));
    return this.#signal;
  }

  /** The keys, for people. */
  get key(): string {
    return this.parts.map(({ key }) => key).join(', ');
  }

  /** Whether all parts are still held, by the clock. */
  get held(): boolean {
    return this.parts.every(({ held }) => held);
  }

  /** The time until the earliest deadline of the parts, if no part is renewed, ms; 0 if a part is not held. */
  get remaining(): number {
    return leastOf(this.parts.map(({ remaining }) => remaining));
  }

  /** @throws LockError of the first part that is not held */
  assertHeld(): void {
    for (const part of this.parts) part.assertHeld();
  }

  /** Extends all parts at once. If the call throws, some parts may have been extended. */
  async extend(ttl: Duration): Promise<void> {
    await Promise.all(this.parts.map((part) => part.extend(ttl)));
  }

  /** Gives what belongs into a log, with the token of each key as text. */
  toJSON(): LeaseRecord & { readonly tokens: Readonly<Record<string, string>> } {
    const { key, held, remaining } = this;
    const tokens = Object.fromEntries([...this.tokens].map(([of, token]) => [of, `${token}`]));
    return { key, held, remaining, tokens };
  }

  /** Releases all parts. @returns whether this call freed all of them */
  async release(): Promise<boolean> {
    // All parts are released at once: if the engine does not answer, many parts take no longer than one.
    const freed = await Promise.all(this.parts.map((part) => part.release()));
    return freed.every(Boolean);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.parts.map((part) => part[Symbol.asyncDispose]()));
  }
}

/** Aborts when one of `signals` aborts. `AbortSignal.any` would leak: Node.js never frees its signal once that has a listener (nodejs/node#54614). */
function firstOf(signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) onAbort(signal, () => controller.abort(signal.reason));
  return controller.signal;
}
