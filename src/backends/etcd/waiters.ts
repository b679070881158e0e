import { type Attempt, admitted, type Claim, type Wake } from '../../core/index.ts';
import { verdictOn } from '../shared/queue-verdict.ts';
import { WaitingClaims } from '../shared/waiting-claims.ts';
import type { Moves } from './moves.ts';
import type { EtcdConnection } from './options.ts';
import {
  behindLast,
  decides,
  indexOf,
  joinsBehind,
  type OwnClaim,
  queueNow,
  readFrom,
  type SeenQueue,
  secondsOf,
} from './queue.ts';
import type { Client } from './wire/client.ts';
import type { Stream } from './wire/grpc.ts';
import {
  endOf,
  firstOf,
  NO_PUTS,
  stillStands,
  type TransactionAnswer,
  touch,
  WatchRequest,
  WatchResponse,
} from './wire/messages.ts';
import { decode, encode, type IncomingMessage } from './wire/protobuf.ts';

const ADMITTED = { admitted: true, relay: false } as const;

/** Decides what a queue means for a claim in it, and watches the obstacles of the claims that wait. */
export class Waiters {
  /** The claims that listen. A claim that lost its key goes on listening, and joins again. */
  readonly #claims = new WaitingClaims();
  /** By the id of a claim, the watch of its obstacle: the promise of a function that ends the watch. */
  readonly #watching = new Map<string, Promise<() => void>>();
  readonly #etcd: EtcdConnection;
  readonly #moves: Moves;
  readonly #watches: StreamWatches;

  constructor(opened: EtcdConnection, moves: Moves, watches: StreamWatches) {
    this.#etcd = opened;
    this.#moves = moves;
    this.#watches = watches;
  }

  async watch(claim: Claim, me: OwnClaim | undefined, wake: Wake): Promise<AsyncDisposable> {
    this.stop(claim.id);
    const waiting = this.#claims.watch(claim, wake, () => this.stop(claim.id));
    try {
      if (me) this.arm(claim, me);
      await this.#watching.get(claim.id);
      return waiting;
    } catch (error) {
      await waiting[Symbol.asyncDispose]();
      throw error;
    }
  }

  isWatching(id: string): boolean {
    return this.#watching.has(id);
  }

  stop(id: string): void {
    const watching = this.#watching.get(id);
    watching?.then((end) => end()).catch(() => undefined);
    this.#watching.delete(id);
  }

  /** The queue that a claim saw as it joined. @param answer the answer to `joining` */
  seenAtJoin(claim: Claim, me: OwnClaim, answer: TransactionAnswer): SeenQueue {
    if (!joinsBehind(claim)) return readFrom(answer, 1);
    const queue = readFrom(answer, 2);
    const behind = decides(queue, me) ? undefined : behindLast(answer, this.#etcd.clock.now());
    if (behind && me.state.is !== 'over') {
      Object.assign(me, behind);
      this.arm(claim, me);
    }
    return queue;
  }

  /** The answer to an attempt of a claim in this queue. A claim behind the head waits until the watch of its obstacle fires. */
  async judge(claim: Claim, me: OwnClaim, queue: SeenQueue, ms: number): Promise<Attempt> {
    if (decides(queue, me)) return this.#verdict(claim, me, queue);
    if (me.state.is === 'waiting') return { granted: false, ahead: me.state.obstacle.ahead };
    const whole = await queueNow(this.#etcd.client, me.queue, ms);
    return indexOf(whole, me) < 0 ? { granted: false } : this.#verdict(claim, me, whole);
  }

  #verdict(claim: Claim, me: OwnClaim, queue: SeenQueue): Attempt {
    if (me.state.is === 'over') return { granted: false };
    const index = indexOf(queue, me);
    const { token } = queue.claims[index]!;
    me.token = token;
    // No claim joins ahead of another one. So once it is admitted it stays so, and a queue in which it waits was read before.
    const verdict = me.state.is === 'admitted' ? ADMITTED : verdictOn(queue.claims, index);
    if (!verdict.admitted) {
      const seen = { from: queue.revision + 1n, count: queue.count, newest: queue.claims.at(-1)!.token };
      me.state = { is: 'waiting', obstacle: { ...verdict, ...seen, listed: this.#etcd.clock.now() } };
      this.arm(claim, me);
      return { granted: false, ahead: index };
    }
    if (verdict.relay) {
      // This write of the claim's key wakes the next permit. If both tries are lost, the next permit reads the queue by its own timer, but late.
      const request = { compare: [stillStands(me.name, token)], success: [touch(me.name)] };
      const wakeNext = () => this.#etcd.client.txn(request);
      wakeNext().catch(() => wakeNext().catch(() => undefined));
    }
    me.state = { is: 'admitted' };
    return { granted: true, token, validFor: me.lease.goodUntil - me.sent };
  }

  /** Watches the obstacle of a claim, if the claim listens and its obstacle is not watched yet. */
  arm(claim: Claim, me: OwnClaim): void {
    const { id } = claim;
    const wake = this.#claims.get(id)?.wake;
    if (!wake || this.isWatching(id) || me.state.is !== 'waiting') return;
    const { behind, relayed, from } = me.state.obstacle;
    const range = behind ? { key: behind.name } : { key: me.queue, rangeEnd: endOf(me.queue) };
    const isOver = (): boolean => this.#watching.get(id) === watching && this.#watching.delete(id);
    const watching = this.#watches.watch({ ...range, puts: relayed, from }, () => {
      if (isOver()) void this.#look(claim, me, wake, relayed);
    });
    this.#watching.set(id, watching);
    watching.catch(isOver);
  }

  /** Reads the head of the queue after the obstacle may have changed. Wakes the claim only if it is admitted, or not in the queue. */
  async #look(claim: Claim, me: OwnClaim, wake: Wake, relayed: boolean): Promise<void> {
    try {
      // It is probably this claim's turn. So one step reads the queue and moves the claim's key to the lease of a hold. If the claim is refused,
      // its next attempt moves the key back. But a permit ahead may have been written for another reason, and a move of this key wakes the
      // permit behind it. So a relayed claim reads the queue first, and moves only if it is admitted.
      const seconds = secondsOf(claim.ttl);
      const isUnder = (): boolean => this.#moves.isSettled(me, seconds);
      const first = (): Promise<SeenQueue> => queueNow(this.#etcd.client, me.queue, undefined, firstOf(me.queue));
      const enough = (seen?: SeenQueue) => (seen && !decides(seen, me) ? queueNow(this.#etcd.client, me.queue) : seen);
      let queue = isUnder() || relayed ? await enough(await first()) : undefined;
      if (!isUnder() && (!queue || indexOf(queue, me) < admitted(queue.claims)))
        queue = await enough(await this.#moves.to(me, seconds, undefined, claim.lingers, 'admitted'));
      if (me.state.is === 'over' || this.#claims.get(claim.id)?.wake !== wake) return;
      const attempt = queue && indexOf(queue, me) >= 0 ? this.#verdict(claim, me, queue) : undefined;
      if (attempt?.granted && isUnder()) wake(attempt);
      else if (!attempt || attempt.granted) wake();
    } catch {
      wake(); // the next attempt watches again, or throws the error
    }
  }
}

interface WatchedRange {
  readonly key: Buffer;
  readonly rangeEnd?: Buffer;
  /** Whether writes count, too, and not only deletions. */
  readonly puts: boolean;
  /** The first revision that counts. */
  readonly from: bigint;
}

/** Many watches over one stream. Each fires once: at the first change, or when it may have missed a change. */
export class StreamWatches {
  readonly #client: Client;
  readonly #watchers = new Map<bigint, () => void>();
  #stream?: Promise<Stream>;
  #last = 0n;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Resolves with the function that ends the watch, as soon as the request is on its way. `fired` may be called before that. The request
   * names the first revision that counts. So no change is missed, however late the server reads the request.
   */
  async watch({ key, rangeEnd, puts, from }: WatchedRange, fired: () => void): Promise<() => void> {
    this.#stream ??= this.#open();
    const stream = await this.#stream;
    const watchId = ++this.#last;
    const filters = puts ? undefined : NO_PUTS;
    this.#watchers.set(watchId, fired);
    stream.write(encode(WatchRequest, { create: { key, rangeEnd, startRevision: from, filters, watchId } }));
    return () => {
      if (this.#watchers.delete(watchId)) stream.write(encode(WatchRequest, { cancel: { watchId } }));
    };
  }

  /** A watch of what changes from now on. */
  async next(range: Omit<WatchedRange, 'from'>, fired: () => void): Promise<() => void> {
    const { key, rangeEnd } = range;
    const { header } = await this.#client.range({ key, rangeEnd, keysOnly: true, limit: 1n });
    return this.watch({ ...range, from: header!.revision + 1n }, fired);
  }

  async close(): Promise<void> {
    (await this.#stream?.catch(() => undefined))?.close();
  }

  #open(): Promise<Stream> {
    const opened: Promise<Stream> = this.#client.watchStream({
      message: (message) => this.#receive(opened, decode(WatchResponse, message)),
      end: () => this.#endStream(opened),
    });
    opened.catch(() => this.#endStream(opened));
    return opened;
  }

  #receive(
    stream: Promise<Stream>,
    { watchId, created, canceled, events }: IncomingMessage<typeof WatchResponse>,
  ): void {
    if (!canceled && events.length === 0) return;
    const fired = this.#watchers.get(watchId);
    this.#watchers.delete(watchId);
    fired?.();
    if (!canceled) void stream.then(({ write }) => write(encode(WatchRequest, { cancel: { watchId } })));
    else if (created) {
      // The watch was canceled at its creation, so we did not cancel it: the server has refused the token of this stream. So the next stream
      // gets a new token.
      this.#client.forgetToken();
      this.#endStream(stream);
      void stream.then(({ close }) => close());
    }
  }

  /** Fires all watches of a stream that has ended: they may have missed changes. */
  #endStream(stream: Promise<Stream>): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    const watchers = [...this.#watchers.values()];
    this.#watchers.clear();
    for (const fired of watchers) fired();
  }
}
