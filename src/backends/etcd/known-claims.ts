import type { Claim } from '../../core/index.ts';
import type { Leases } from './leases.ts';
import type { EtcdConnection } from './options.ts';
import { claimKey, type OwnClaim, queuePrefix, secondsOf } from './queue.ts';
import type { Waiters } from './waiters.ts';

/** Below this number of claims, a search for expired ones is not worth its time. */
const MIN_PRUNED = 1_000;

export class KnownClaims {
  readonly #all = new Map<string, OwnClaim>();
  /** The claims that wait for their lease, and whether each was given up meanwhile: then the claim must not join. */
  readonly #coming = new Map<string, { over: boolean }>();
  #pruneAt = MIN_PRUNED;
  readonly #leases: Leases;
  readonly #waiters: Waiters;
  readonly #etcd: EtcdConnection;

  constructor(opened: EtcdConnection, leases: Leases, waiters: Waiters) {
    this.#etcd = opened;
    this.#leases = leases;
    this.#waiters = waiters;
  }

  queueOf(key: string): Buffer {
    return queuePrefix(this.#etcd.prefix, key);
  }

  get(id: string): OwnClaim | undefined {
    return this.#all.get(id);
  }

  /** The claim, if it is in its queue as far as this process knows. */
  standing(id: string): OwnClaim | undefined {
    const me = this.#all.get(id);
    return me?.token === undefined ? undefined : me;
  }

  /** Finds a claim of this process, or makes it. Almost all of the time of its lease remains. */
  async take(claim: Claim, ms: number): Promise<OwnClaim> {
    this.#prune();
    const known = this.#all.get(claim.id);
    if (known) {
      known.lease = await this.#leases.freshen(known.lease, ms);
      return known;
    }
    const queue = this.queueOf(claim.key);
    const began = this.#etcd.clock.now();
    const coming = { over: false };
    this.#coming.set(claim.id, coming);
    const taken = this.#leases.take(secondsOf(claim.ttl), ms, claim.lingers);
    const lease = await taken.finally(() => this.#coming.delete(claim.id));
    if (coming.over) {
      this.#leases.giveBack(lease);
      throw new Error('given up meanwhile');
    }
    const name = claimKey(queue, claim.id);
    const me: OwnClaim = { queue, name, state: { is: 'joining' }, lease, key: 'settled', sent: 0, began };
    this.#all.set(claim.id, me);
    return me;
  }

  /** A message of a claim that is over may still reach etcd. So first the claim's lease is ended: then etcd refuses the message. */
  async discard(id: string, ms?: number): Promise<void> {
    const me = this.#all.get(id);
    if (me?.state.is !== 'over') return;
    me.lease.state = 'named'; // the revoke may come late
    await this.#leases.end(me.lease.id, ms);
    this.forget(id);
  }

  /** Ends all work of this process for a claim. The claim's key is gone, or is deleted when its lease ends. */
  forget(id: string): void {
    const coming = this.#coming.get(id);
    if (coming) coming.over = true;
    const me = this.#all.get(id);
    if (!me) return;
    this.#all.delete(id);
    me.state = { is: 'over' };
    this.#leases.giveBack(me.lease);
    this.#waiters.stop(id);
  }

  /** Now and then forgets the claims whose leases have ended: nothing reports when a hold has expired. */
  #prune(): void {
    if (this.#all.size < this.#pruneAt) return;
    for (const [id, { lease }] of this.#all) if (lease.goodUntil < this.#etcd.clock.now()) this.forget(id);
    this.#pruneAt = Math.max(MIN_PRUNED, 2 * this.#all.size);
  }
}
