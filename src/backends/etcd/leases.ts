import { type Clock, LockError } from '../../core/index.ts';
import type { Client } from './wire/client.ts';
import { isStatus, STATUS } from './wire/grpc.ts';
import { GRANT, KEEP_ALIVE, REVOKE } from './wire/messages.ts';

/** A lease on the server. When it ends, the key under it is deleted. */
export interface ServerLease {
  readonly id: bigint;
  /** The time that was asked for. The server may have granted more. */
  readonly seconds: number;
  /** The time that was granted, ms. */
  readonly ttl: number;
  /** It was granted in this term of a leader, or later. */
  readonly term: bigint;
  /** The end of the lease by our clock. It counts from before the message was sent, so it is never later than the server's end. */
  goodUntil: number;
  /** `named`: a message that names this lease may still be on its way. Only a revoke ends such a lease. */
  state: 'free' | 'named';
}

/** A spare lease with less than this share of its time left is kept alive once before it is used. */
const FRESH_PART = 0.97;
const MAX_SPARES = 128;

/**
 * Each hold has its own lease, and so its own ttl. But not each hold gets a new lease: a grant and a revoke would double the writes
 * of a cycle. The lease of a key that is surely deleted waits here for the next hold with the same ttl. Nobody keeps a spare lease
 * alive: it expires on the server by itself.
 */
export class Leases {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #spares = new Map<number, ServerLease[]>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** @param whole the lease must start again now */
  async take(seconds: number, ms?: number, whole?: boolean): Promise<ServerLease> {
    for (;;) {
      const spare = this.#spares.get(seconds)?.pop();
      if (!spare) return this.grant(seconds, ms);
      if (spare.term < this.#client.term) continue;
      if (await (whole ? this.keepAlive(spare, ms) : this.#isFresh(spare, ms))) return spare;
    }
  }

  /** The lease, with most of its time ahead, or a new one if it is gone. */
  async freshen(lease: ServerLease, ms?: number): Promise<ServerLease> {
    return (await this.#isFresh(lease, ms)) ? lease : this.grant(lease.seconds, ms);
  }

  /**
   * Does something that puts a key under the lease. A lease that died unseen is replaced. Until the answer comes the lease is
   * `named`: if it is given back meanwhile, it is ended, since the message may still be on its way.
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
        if (error instanceof LockError) used.state = before; // refused for good: that message puts nothing under it
        // Refused because the lease is gone. Nothing was done, so a new lease may be tried.
        if (!isStatus(error, STATUS.notFound) || used !== lease) throw error;
      }
    }
  }

  async #isFresh(lease: ServerLease, ms?: number): Promise<boolean> {
    const left = lease.goodUntil - this.#clock.resync(); // the machine may have been suspended meanwhile
    return left >= lease.ttl * FRESH_PART || (left > 0 && (await this.keepAlive(lease, ms)));
  }

  async grant(seconds: number, ms?: number): Promise<ServerLease> {
    const sent = this.#clock.now();
    const { term } = this.#client; // as known before: the answer may tell of a leader that was elected since the lease was granted
    const { id, ttl } = await this.#client.call(GRANT, { ttl: BigInt(seconds) }, ms);
    const granted = Number(ttl) * 1_000;
    return { id, seconds, ttl: granted, term, goodUntil: sent + granted, state: 'free' };
  }

  /** Renews the lease to its full time. Returns whether it was still there. */
  async keepAlive(lease: ServerLease, ms?: number): Promise<boolean> {
    const sent = this.#clock.now();
    // For etcd a dead lease is no error: the answer has no ttl.
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

  /** Deletes the keys under the lease. A later message that names it is refused. */
  async end(id: bigint, ms?: number): Promise<void> {
    await this.#client.call(REVOKE, { id }, ms).catch((error: unknown) => {
      if (!isStatus(error, STATUS.notFound)) throw error;
    });
  }

  /** If this fails, the lease expires, since nobody keeps it alive. */
  endSoon(id: bigint): void {
    this.end(id).catch(() => undefined);
  }

  async close(ms?: number): Promise<void> {
    const spares = [...this.#spares.values()].flat();
    this.#spares.clear();
    await Promise.allSettled(spares.map(({ id }) => this.end(id, ms)));
  }
}
