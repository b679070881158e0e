import type { Clock } from '../../core/clock.ts';
import type { Client } from './client.ts';
import { isStatus, STATUS } from './grpc.ts';

/** A lease on the server; the key put under it goes when it goes. */
export interface Lease {
  readonly id: bigint;
  /** As asked for; the server may have granted more. */
  readonly seconds: number;
  /** As granted, ms. */
  readonly ttl: number;
  /** By our clock, counted from before the message was sent, so never later than the server's. */
  goodUntil: number;
  /** `named`: a message that names this lease may still be on its way, and only revoking makes an end of it. */
  state: 'free' | 'named';
}

/** Of its time to live: a spare lease with less left is kept alive once before it is used. */
const FRESH = 0.97;
const SPARES = 128;

/**
 * A lease per hold, so that each has a ttl and a fate of its own, but not a new one per hold: granting and revoking would
 * double the writes of a cycle. The lease of a key that is surely deleted waits here for the next hold with the same
 * ttl. Nobody keeps a spare alive: it lapses on the server by itself.
 */
export class Leases {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #spares = new Map<number, Lease[]>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** @param whole not a moment of it may be over */
  async take(seconds: number, ms?: number, whole?: boolean): Promise<Lease> {
    for (;;) {
      const spare = this.#spares.get(seconds)?.pop();
      if (!spare) return this.#grant(seconds, ms);
      if (await (whole ? this.keepAlive(spare, ms) : this.#isFresh(spare, ms))) return spare;
    }
  }

  /** The lease with most of its time ahead of it, or another if it is gone. */
  async freshen(lease: Lease, ms?: number): Promise<Lease> {
    return (await this.#isFresh(lease, ms)) ? lease : this.#grant(lease.seconds, ms);
  }

  /**
   * Does with a lease what puts a key under it; one that died unseen is replaced. Until there is an answer the lease is
   * named, so that whoever gives it back meanwhile ends it: the message may still be on its way.
   */
  async use<T>(lease: Lease, ms: number | undefined, act: (lease: Lease) => Promise<T>): Promise<T> {
    for (let used = lease; ; used = await this.#grant(lease.seconds, ms)) {
      const before = used.state;
      used.state = 'named';
      try {
        const answer = await act(used);
        used.state = before;
        return answer;
      } catch (error) {
        // Refused, since it is gone: nothing was done, so it may be done with a new one.
        if (!isStatus(error, STATUS.notFound) || used !== lease) throw error;
      }
    }
  }

  async #isFresh(lease: Lease, ms?: number): Promise<boolean> {
    const left = lease.goodUntil - this.#clock.resync(); // the machine may have slept since it was put by
    return left >= lease.ttl * FRESH || (left > 0 && (await this.keepAlive(lease, ms)));
  }

  async #grant(seconds: number, ms?: number): Promise<Lease> {
    const sent = this.#clock.now();
    const { id, ttl } = await this.#client.grant(BigInt(seconds), ms);
    const granted = Number(ttl) * 1_000;
    return { id, seconds, ttl: granted, goodUntil: sent + granted, state: 'free' };
  }

  /** Whether the lease was still there; it then starts anew. */
  async keepAlive(lease: Lease, ms?: number): Promise<boolean> {
    const sent = this.#clock.now();
    // A dead lease is no error to etcd: the answer has no ttl.
    const alive = (await this.#client.keepAlive(lease.id, ms)) > 0n;
    lease.goodUntil = alive ? sent + lease.ttl : 0;
    return alive;
  }

  /** For a lease whose key is gone. */
  giveBack(lease: Lease): void {
    if (lease.state === 'named') {
      // Should this fail, the lease lapses: nobody keeps it alive.
      this.end(lease).catch(() => undefined);
      return;
    }
    const now = this.#clock.now();
    const spares = (this.#spares.get(lease.seconds) ?? []).filter(({ goodUntil }) => goodUntil > now);
    if (lease.goodUntil > now && spares.length < SPARES) spares.push(lease);
    if (spares.length > 0) this.#spares.set(lease.seconds, spares);
    else this.#spares.delete(lease.seconds);
  }

  /** Deletes what is under the lease; what names it later is refused. */
  async end(lease: Lease, ms?: number): Promise<void> {
    try {
      await this.#client.revoke(lease.id, ms);
    } catch (error) {
      if (!isStatus(error, STATUS.notFound)) throw error;
    }
  }

  async close(ms?: number): Promise<void> {
    const spares = [...this.#spares.values()].flat();
    this.#spares.clear();
    await Promise.allSettled(spares.map(({ id }) => this.#client.revoke(id, ms)));
  }
}
