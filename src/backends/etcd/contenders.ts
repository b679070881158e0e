import { ALL_SEATS, admitted, isExclusive } from '../../core/admission.ts';
import { type Attempt, type Claim, type Grant, type Handle, PLACE_TTL, type Release } from '../../core/backend.ts';
import type { Clock } from '../../core/clock.ts';
import type { Client } from './client.ts';
import { type Contender, indexOf, isUnderLeaseOf, secondsOf, stopWatching, type Waiter } from './contender.ts';
import { isStatus, STATUS } from './grpc.ts';
import type { Leases } from './leases.ts';
import { endOf, type Line, lineOf, nameOf, read, readFrom, written } from './line.ts';
import type { TxnResponse } from './messages.ts';
import type { Moves } from './moves.ts';
import { list, listing, nobodyJoinedAfter, type Op, remove, stand, type Transaction } from './ops.ts';
import type { Received } from './protobuf.ts';
import { beckon, blocked, stillRefused } from './waiting.ts';
import type { Watches } from './wake-ups.ts';

/** Of the lease that a place is put under. */
const placeSecondsOf = ({ placeTtl = PLACE_TTL }: Claim): number => secondsOf(placeTtl);
/** Contenders among whom it is not worth while to look for those who are over. */
const ROOMY = 1_000;

/** Joins lines, looks where it stands in them, waits, and leaves. */
export class Contenders {
  readonly #known = new Map<string, Contender>();
  readonly #waiters = new Map<string, Waiter>();
  #roomy = ROOMY;
  readonly #client: Client;
  readonly #leases: Leases;
  readonly #moves: Moves;
  readonly #watches: Watches;
  readonly #prefix: string;
  readonly #clock: Clock;

  constructor(client: Client, leases: Leases, moves: Moves, watches: Watches, prefix: string, clock: Clock) {
    this.#client = client;
    this.#leases = leases;
    this.#moves = moves;
    this.#watches = watches;
    this.#prefix = prefix;
    this.#clock = clock;
  }

  /** The contender of a claim that stands in line as far as we know. */
  standing(id: string): Contender | undefined {
    const me = this.#known.get(id);
    return me?.ticket === undefined ? undefined : me;
  }

  async attempt(claim: Claim, sent: number, ms: number): Promise<Attempt> {
    await this.#bury(claim.id, ms);
    const line = await this.#lookAgain(claim, sent, ms);
    if (line === 'refused') return { granted: false };
    if (line) return this.#settle(claim, this.#known.get(claim.id)!, line, sent, ms);
    const me = await this.#contender(claim, ms);
    if (this.#clock.now() - sent >= claim.within) return this.#isLate(claim);
    try {
      return await this.#join(claim, me, sent, ms);
    } catch (error) {
      if (!isStatus(error, STATUS.deadlineExceeded)) throw error;
      // etcd cannot refuse a message for coming late. But it refuses one that names a lease which is gone, and deletes
      // what is under it: once the lease is revoked, this attempt has no effect, whenever it arrives.
      me.over = true;
      await this.#bury(claim.id).catch(() => Promise.reject(error));
      return this.#isLate(claim);
    }
  }

  /** Nothing more for a claim whose message may still come, until the lease that it names has surely ended. */
  async #bury(id: string, ms?: number): Promise<void> {
    const me = this.#known.get(id);
    if (!me?.over) return;
    await this.#leases.end(me.lease, ms);
    this.forget(id);
  }

  #isLate(claim: Claim): Attempt {
    this.forget(claim.id);
    return { granted: false, late: true };
  }

  async #join(claim: Claim, me: Contender, sent: number, ms: number): Promise<Attempt> {
    for (let revision = 0n; ; ) {
      const answer = await this.#put(me, ms, (join) => ({
        compare: claim.queue ? [] : [nobodyJoinedAfter(me.line, revision)],
        success: [join(claim), list(me.line)],
        failure: [list(me.line)],
      }));
      const seen = readFrom(answer, answer.succeeded ? 1 : 0);
      if (seen.places.some(({ name }) => name.equals(me.name))) return this.#settle(claim, me, seen, sent, ms);
      // Without a place in line: only if there is room, and then only if nobody came since we looked.
      if (admitted([...seen.places, claim]) <= seen.places.length) {
        this.forget(claim.id);
        return { granted: false, ahead: seen.places.length };
      }
      revision = seen.revision;
    }
  }

  /** Deletes the claim's key by its name, which no other claim ever has: a repetition or a late message robs nobody. */
  async release(handle: Handle, next: Claim | undefined, ms: number): Promise<Release> {
    const sent = this.#clock.now();
    const line = lineOf(this.#prefix, handle.key);
    const gone = remove(this.#known.get(handle.id)?.name ?? nameOf(line, handle.id));
    const successor = next?.queue ? await this.#contender(next, ms) : undefined;
    let freed = false;
    try {
      const answer = successor
        ? await this.#put(successor, ms, (join) => ({ success: [gone, join(next!), list(line)] }))
        : await this.#client.txn({ success: [gone] }, ms);
      freed = answer.responses[0]!.delete!.deleted > 0n;
      if (!successor) return { freed };
      // The release is done: if the rest cannot be told, the next claim's own attempt will.
      const attempt = this.#settle(next!, successor, readFrom(answer, 2), sent, ms).catch(() => undefined);
      return { freed, next: await attempt };
    } finally {
      // What was not there may still come: answers may be read in another order than their messages were carried out.
      const me = this.#known.get(handle.id);
      if (me && !freed) me.lease.tainted = true;
      this.forget(handle.id);
    }
  }

  /** Ends what this process does for a claim. Its key is gone, or goes with its lease. */
  forget(id: string): void {
    const me = this.#known.get(id);
    if (!me) return;
    this.#known.delete(id);
    me.over = true;
    this.#leases.giveBack(me.lease);
    stopWatching(this.#waiters.get(id));
  }

  async watch(claim: Claim, wake: (grant?: Grant) => void): Promise<AsyncDisposable> {
    const me = this.#known.get(claim.id);
    const waiter: Waiter = { wake };
    stopWatching(this.#waiters.get(claim.id));
    this.#waiters.set(claim.id, waiter);
    const over = async (): Promise<void> => {
      stopWatching(waiter);
      if (this.#waiters.get(claim.id) === waiter) this.#waiters.delete(claim.id);
    };
    try {
      if (me) this.#arm(claim, me);
      await waiter.watching;
    } catch (error) {
      await over();
      throw error;
    }
    return { [Symbol.asyncDispose]: over };
  }

  /** A sign of life, and the line as it is now where that may admit it; undefined for a claim that does not stand in it (any more). */
  async #lookAgain(claim: Claim, sent: number, ms: number): Promise<Line | 'refused' | undefined> {
    const me = this.standing(claim.id);
    if (!me) return undefined;
    const [alive, line] = await Promise.all([this.#leases.keepAlive(me.lease, ms), this.#lookAround(claim, me, ms)]);
    if (alive && line === 'refused') {
      me.sent = Math.max(me.sent, sent);
      this.#arm(claim, me);
      return line;
    }
    if (alive && line !== 'refused' && indexOf(line, me) >= 0) return line;
    this.forget(claim.id);
    return undefined;
  }

  async #lookAround(claim: Claim, me: Contender, ms: number): Promise<Line | 'refused'> {
    const asPlace = me.lease.seconds <= placeSecondsOf(claim) && !me.adrift; // else it is to be moved
    const watched = this.#waiters.get(claim.id)?.watching !== undefined;
    const refused = asPlace && (await stillRefused(this.#client, me, watched, this.#clock.now(), ms));
    return refused ? 'refused' : this.#list(me, ms);
  }

  async #contender(claim: Claim, ms: number): Promise<Contender> {
    this.#prune();
    const known = this.#known.get(claim.id);
    if (known) {
      known.lease = await this.#leases.freshen(known.lease, ms);
      return known;
    }
    const line = lineOf(this.#prefix, claim.key);
    const lease = await this.#leases.take(secondsOf(claim.ttl), ms, claim.lingers);
    const me: Contender = {
      line,
      name: nameOf(line, claim.id),
      lease,
      adrift: false,
      sent: 0,
      waited: false,
      over: false,
    };
    this.#known.set(claim.id, me);
    return me;
  }

  /** Forgets holds that were left to lapse, now and then: nobody ever says that they have. */
  #prune(): void {
    if (this.#known.size < this.#roomy) return;
    for (const [id, { lease }] of this.#known) if (lease.goodUntil < this.#clock.now()) this.forget(id);
    this.#roomy = Math.max(ROOMY, 2 * this.#known.size);
  }

  /** Sends a transaction that puts a contender in line, under its lease or, if that died unseen, under a new one. */
  #put(
    me: Contender,
    ms: number,
    request: (join: (claim: Claim) => Op) => Transaction,
  ): Promise<Received<typeof TxnResponse>> {
    return this.#leases.use(me.lease, ms, (lease) => {
      if (me.over) throw new Error('given up meanwhile'); // its key is removed: nothing may follow
      me.lease = lease;
      return this.#client.txn(
        request((claim) => stand(me.name, written(claim), lease.id)),
        ms,
      );
    });
  }

  /** What the line means for a claim that stands in it. */
  async #settle(claim: Claim, me: Contender, line: Line, sent: number, ms: number): Promise<Attempt> {
    if (me.over) return { granted: false };
    me.sent = Math.max(me.sent, sent);
    const attempt = this.#judge(claim, me, line);
    if (attempt.granted) {
      const seconds = Math.max(secondsOf(claim.ttl), me.lease.seconds); // never less than a renewal confirmed
      if (isUnderLeaseOf(me, seconds)) return attempt;
      const moved = await this.#moves.to(me, seconds, ms, claim.lingers);
      return moved ? this.#judge(claim, me, moved) : { granted: false };
    }
    if (!claim.queue) {
      await this.release(claim, undefined, ms);
      return attempt;
    }
    const seconds = placeSecondsOf(claim);
    if (me.lease.seconds <= seconds && !me.adrift) return attempt;
    // A waiter that dies should not keep the key for as long as a holder may. If this fails, the next attempt repeats it.
    const moved = await this.#moves.to(me, seconds, ms).catch(() => undefined);
    return moved ? this.#settle(claim, me, moved, sent, ms) : attempt; // its turn may have come meanwhile
  }

  async #list(me: Contender, ms?: number): Promise<Line> {
    const listed = await this.#client.range(listing(me.line), ms);
    return read(listed.header!.revision, listed);
  }

  #judge(claim: Claim, me: Contender, line: Line): Attempt {
    const index = indexOf(line, me);
    me.ticket = line.places[index]!.ticket;
    if (index >= admitted(line.places)) {
      me.waited = true;
      me.obstacle = blocked(line, index, this.#clock.now());
      this.#arm(claim, me);
      return { granted: false, ahead: index };
    }
    me.obstacle = undefined;
    const behind = line.places[index + 1];
    if (me.waited && claim.of < ALL_SEATS && behind && !isExclusive(behind)) beckon(this.#client, me);
    me.waited = false;
    return { granted: true, ticket: me.ticket, validFor: me.lease.goodUntil - me.sent };
  }

  /** Watches what stands in the way, if somebody waits for it and nothing is watched yet. */
  #arm(claim: Claim, me: Contender): void {
    const waiter = this.#waiters.get(claim.id);
    const { obstacle } = me;
    if (!waiter || waiter.watching || !obstacle || me.over) return;
    const { name, puts, from } = obstacle;
    const range = name ? { key: name } : { key: me.line, rangeEnd: endOf(me.line) };
    const watching = this.#watches.watch({ ...range, puts, from }, () => {
      if (waiter.watching !== watching) return;
      waiter.watching = undefined;
      void this.#look(claim, me, waiter);
    });
    waiter.watching = watching;
    watching.catch(() => {
      if (waiter.watching === watching) waiter.watching = undefined;
    });
  }

  /** Something changed, or went unseen: looks at the whole line, one's own key included, before saying anything. */
  async #look(claim: Claim, me: Contender, waiter: Waiter): Promise<void> {
    try {
      // It is probably its turn: so it gets the lease of a hold in the same step, and gives it back if it is not.
      const line = isUnderLeaseOf(me, secondsOf(claim.ttl))
        ? await this.#list(me)
        : await this.#moves.to(me, secondsOf(claim.ttl), undefined, claim.lingers);
      if (me.over || this.#waiters.get(claim.id) !== waiter) return;
      const attempt = line && indexOf(line, me) >= 0 ? this.#judge(claim, me, line) : undefined;
      if (attempt?.granted) waiter.wake(attempt);
      else if (!attempt) waiter.wake();
    } catch {
      waiter.wake(); // the attempt that follows arms again, or hears what is wrong
    }
  }
}
