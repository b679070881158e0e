import { type Clock, LockError } from '../../core/index.ts';
import type { Client } from './wire/client.ts';
import { isStatus, STATUS } from './wire/grpc.ts';
import { GRANT, KEEP_ALIVE, REVOKE } from './wire/messages.ts';

/** A lease on the server. When the lease ends, the server deletes the key under it. */
export interface ServerLease {
  readonly id: bigint;
  /** The time that was asked for, s. The server may have granted more. */
  readonly seconds: number;
  /** The time that was granted, ms. */
  readonly ttl: number;
  /** The lease was granted in this term of a leader, or a later one. */
  readonly term: bigint;
  /** When the lease ends, by our clock. Counted from when its request was sent, so never later than the end on the server. */
  goodUntil: number;
  /** `named`: a message that names this lease may still be on its way. So the lease is not used again, but revoked. */
  state: 'free' | 'named';
}

/** A spare lease with less than this part of its time remaining is kept alive before it is used. */
const FRESH_PART = 0.97;
const MAX_SPARES = 128;

/**
 * Each hold has a lease of its own, and so its own ttl. But a new lease for each hold would double the writes: a grant, and a revoke. So the
 * lease of a key that is known to be deleted waits here for the next hold with the same ttl. Nobody keeps a spare lease alive, so it expires.
 */
export class Leases {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #spares = new Map<number, ServerLease[]>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** @param whole whether the lease must have its whole time from now */
  async take(seconds: number, ms?: number, whole?: boolean): Promise<ServerLease> {
    for (;;) {
      const spare = this.#spares.get(seconds)?.pop();
      if (!spare) return this.grant(seconds, ms);
      if (spare.term < this.#client.term) continue;
      if (await (whole ? this.keepAlive(spare, ms) : this.#isFresh(spare, ms))) return spare;
    }
  }

  /** @returns the lease, with almost all of its time remaining, or a new lease if this one is gone */
  async freshen(lease: ServerLease, ms?: number): Promise<ServerLease> {
    return (await this.#isFresh(lease, ms)) ? lease : this.grant(lease.seconds, ms);
  }

  /**
   * Calls `act`, which puts a key under the lease. If the server says that the lease is gone, calls it once more with a new lease. Until the
   * answer comes, the lease is `named`: if it is given back meanwhile, it is revoked, since the message may still be on its way.
   */
  async use<T>(lease: ServerLease, ms: number | undefined, act: (lease: ServerLease) => Promise<T>): Promise<T> {
    for (let used = lease; ; used = await this.grant(lease.seconds, ms)) {
      const before = used.state;
      used.state = 'named';
      try {
        const answer = await act(used);
        used.state = before;
        return answer;
      } catch (error) {
        if (error instanceof LockError) used.state = before; // refused for good: that message puts no key under the lease
        // The lease is gone, so the server did nothing. `act` is repeated once with a new lease.
        if (!isStatus(error, STATUS.notFound) || used !== lease) throw error;
      }
    }
  }

  async #isFresh(lease: ServerLease, ms?: number): Promise<boolean> {
    const remaining = lease.goodUntil - this.#clock.resync(); // the machine may have been suspended meanwhile
    return remaining >= lease.ttl * FRESH_PART || (remaining > 0 && (await this.keepAlive(lease, ms)));
  }

  async grant(seconds: number, ms?: number): Promise<ServerLease> {
    const sent = this.#clock.now();
    const { term } = this.#client; // read before the call: a leader may be elected after the lease was granted and before the answer comes
    const { id, ttl } = await this.#client.call(GRANT, { ttl: BigInt(seconds) }, ms);
    const granted = Number(ttl) * 1_000;
    return { id, seconds, ttl: granted, term, goodUntil: sent + granted, state: 'free' };
  }

  /** Renews the lease to its full time. @returns whether the lease was still there */
  async keepAlive(lease: ServerLease, ms?: number): Promise<boolean> {
    const sent = this.#clock.now();
    // A lease that is gone is no error for etcd: the answer then has no ttl.
    const alive = (await this.#client.call(KEEP_ALIVE, { id: lease.id }, ms)).ttl > 0n;
    lease.goodUntil = alive ? sent + lease.ttl : 0;
    return alive;
  }

  /** Takes back a lease whose key is gone. */
  giveBack(lease: ServerLease): void {
    if (lease.state === 'named') {
      this.endSoon(lease.id);
      return;
    }
    const now = this.#clock.now();
    const spares = (this.#spares.get(lease.seconds) ?? []).filter(({ goodUntil }) => goodUntil > now);
    if (lease.goodUntil > now && spares.length < MAX_SPARES) spares.push(lease);
    if (spares.length > 0) this.#spares.set(lease.seconds, spares);
    else this.#spares.delete(lease.seconds);
  }

  /** Revokes the lease, which deletes the keys under it. Later messages that name the lease are refused. */
  async end(id: bigint, ms?: number): Promise<void> {
    await this.#client.call(REVOKE, { id }, ms).catch((error: unknown) => {
      if (!isStatus(error, STATUS.notFound)) throw error;
    });
  }

  /** Ends a lease in the background. If that fails, the lease expires, since nobody keeps it alive. */
  endSoon(id: bigint): void {
    this.end(id).catch(() => undefined);
  }

  async close(): Promise<void> {
    const spares = [...this.#spares.values()].flat();
    this.#spares.clear();
    await Promise.allSettled(spares.map(({ id }) => this.end(id)));
  }
}
