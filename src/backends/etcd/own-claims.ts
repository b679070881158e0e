import { type Attempt, type Claim, type Handle, PLACE_TTL_MS, type Release } from '../../core/index.ts';
import { admits } from '../shared/stored-queue.ts';
import { KnownClaims } from './known-claims.ts';
import { Leases } from './leases.ts';
import { Moves } from './moves.ts';
import type { EtcdConnection } from './options.ts';
import {
  claimKey,
  indexOf,
  joining,
  type OwnClaim,
  queueNow,
  type SeenQueue,
  secondsOf,
  stillRefused,
} from './queue.ts';
import { StreamWatches, Waiters } from './waiters.ts';
import { isStatus, STATUS } from './wire/grpc.ts';
import { look, nobodyJoinedAfter, remove } from './wire/messages.ts';

const placeSecondsOf = ({ placeTtl = PLACE_TTL_MS }: Claim): number => secondsOf(placeTtl);

/** The claims of this process: they join queues, ask whether they are admitted, and leave. */
export class OwnClaims {
  readonly moves: Moves;
  readonly watches: StreamWatches;
  readonly waiters: Waiters;
  readonly known: KnownClaims;
  readonly leases: Leases;
  readonly #etcd: EtcdConnection;

  constructor(opened: EtcdConnection) {
    this.#etcd = opened;
    const { client, clock } = opened;
    this.leases = new Leases(client, clock);
    this.moves = new Moves(client, this.leases);
    this.watches = new StreamWatches(client);
    this.waiters = new Waiters(opened, this.moves, this.watches);
    this.known = new KnownClaims(opened, this.leases, this.waiters);
  }

  async attempt(claim: Claim, sent: number, ms: number): Promise<Attempt> {
    await this.known.discard(claim.id, ms);
    const queue = await this.#lookAgain(claim, sent, ms);
    if (queue === 'refused') return { granted: false };
    if (queue) return this.#settle(claim, this.known.get(claim.id)!, queue, sent, ms);
    // The term must be known before a lease is granted. Any answer names it.
    if (this.#etcd.client.term === 0n)
      await this.#etcd.client.txn({ success: [look(this.known.queueOf(claim.key))] }, ms);
    const me = await this.known.take(claim, ms);
    if (this.#etcd.clock.now() - sent >= claim.within) return this.#isLate(claim);
    try {
      return await this.#join(claim, me, sent, ms);
    } catch (error) {
      // With a token the put was answered: nothing late can come of it, and a notification may have granted the claim by now.
      if (me.token !== undefined || !isStatus(error, STATUS.deadlineExceeded)) throw error;
      // etcd cannot refuse a message because it is late. But it refuses a message that names a revoked lease, and a revoke deletes the
      // keys under the lease. So once the lease is revoked, this attempt has no effect, whenever it arrives.
      me.state = { is: 'over' };
      await this.known.discard(claim.id).catch(() => Promise.reject(error));
      return this.#isLate(claim);
    }
  }

  #isLate(claim: Claim): Attempt {
    this.known.forget(claim.id);
    return { granted: false, late: true };
  }

  /** Makes the key of a claim in the queue, under its lease, or under a new lease if that one is gone. */
  async #join(claim: Claim, me: OwnClaim, sent: number, ms: number): Promise<Attempt> {
    for (let revision = 0n; ; ) {
      const compare = claim.queue ? [] : [nobodyJoinedAfter(me.queue, revision)];
      const answer = await this.leases.use(me.lease, ms, (lease) => {
        if (me.state.is === 'over') throw new Error('given up meanwhile'); // its key was removed: no message may make the key again
        me.lease = lease;
        return this.#etcd.client.txn(joining(me, claim, lease.id, compare), ms);
      });
      // If the key was there, an earlier message has made it, perhaps under another lease.
      me.key = answer.succeeded ? 'settled' : 'moving';
      const seen = this.waiters.seenAtJoin(claim, me, answer);
      if (claim.queue || indexOf(seen, me) >= 0) return this.#settle(claim, me, seen, sent, ms);
      // A claim that does not wait joins only if there is room, and only if nobody has joined since the queue was read.
      if (!admits(seen.claims, claim)) {
        this.known.forget(claim.id);
        return { granted: false, ahead: seen.claims.length };
      }
      revision = seen.revision;
    }
  }

  /** Deletes the claim's key by its name. No other claim ever has that name, so a repeated or late message removes no other claim. */
  async release(handle: Handle, ms?: number): Promise<Release> {
    const gone = remove(claimKey(this.known.queueOf(handle.key), handle.id));
    let freed = false;
    try {
      const { responses } = await this.#etcd.client.txn({ success: [gone] }, ms);
      freed = responses[0]!.delete!.deleted > 0n;
      return { freed };
    } finally {
      // If there was no key to delete, an earlier message may still write the key. So the claim's lease is revoked and not used again.
      const me = this.known.get(handle.id);
      if (me && !freed) me.lease.state = 'named';
      this.known.forget(handle.id);
    }
  }

  close(): Promise<void> {
    return this.watches.close().then(() => this.leases.close());
  }

  /** Keeps the claim's lease alive. @returns the queue if the claim may be admitted by now, or `refused`; undefined if the claim has to join */
  async #lookAgain(claim: Claim, sent: number, ms: number): Promise<SeenQueue | 'refused' | undefined> {
    const me = this.known.standing(claim.id);
    if (!me) return undefined;
    const { lease } = me;
    const [kept, seen] = await Promise.all([this.leases.keepAlive(lease, ms), this.#lookAround(claim, me, ms)]);
    // A notification may have granted the claim after it was seen as refused: then the grant must count from this attempt.
    const isGranted = seen === 'refused' && me.state.is === 'admitted';
    const queue = isGranted ? await queueNow(this.#etcd.client, me.queue, ms) : seen;
    const alive = kept || me.lease !== lease; // a notification may have moved the key, and ended the lease
    if (alive && queue === 'refused') {
      me.sent = Math.max(me.sent, sent);
      this.waiters.arm(claim, me);
      return queue;
    }
    if (alive && queue !== 'refused' && indexOf(queue, me) >= 0) return queue;
    const wasAdmitted = me.state.is === 'admitted'; // a notified hold is gone: a second place must not stand for it
    this.known.forget(claim.id);
    return wasAdmitted ? 'refused' : undefined;
  }

  async #lookAround(claim: Claim, me: OwnClaim, ms: number): Promise<SeenQueue | 'refused'> {
    const [{ client, clock }, watched] = [this.#etcd, this.waiters.isWatching(claim.id)];
    const refused = this.#isPlaced(claim, me) && (await stillRefused(client, me, watched, clock.now(), ms));
    return refused ? 'refused' : queueNow(client, me.queue, ms);
  }

  /** Whether the key is under a lease as short as a waiter's. If not, the key must be moved. */
  #isPlaced(claim: Claim, me: OwnClaim): boolean {
    return me.lease.seconds <= placeSecondsOf(claim) && this.moves.isSettled(me);
  }

  /** The answer to an attempt of a claim that is in this queue. */
  async #settle(claim: Claim, me: OwnClaim, queue: SeenQueue, sent: number, ms: number): Promise<Attempt> {
    if (me.state.is === 'over') return { granted: false };
    me.sent = Math.max(me.sent, sent);
    const attempt = await this.waiters.judge(claim, me, queue, ms);
    if (attempt.granted) {
      const seconds = Math.max(secondsOf(claim.ttl), me.lease.seconds); // never shorter: a renewal may have confirmed the present lease
      if (this.moves.isSettled(me, seconds)) return attempt;
      const moved = await this.moves.to(me, seconds, ms, claim.lingers);
      return moved ? this.#settle(claim, me, moved, sent, ms) : { granted: false };
    }
    if (!claim.queue) {
      await this.release(claim, ms);
      return attempt;
    }
    if (this.#isPlaced(claim, me)) return attempt;
    // The place of a dead waiter must end sooner than the hold of a dead holder. If the move fails, the next attempt repeats it.
    const moved = await this.moves.to(me, placeSecondsOf(claim), ms, false, 'admitted').catch(() => undefined);
    return moved ? this.#settle(claim, me, moved, sent, ms) : attempt; // its turn may have come during the move
  }
}
