import { type Claim, KeyedSerializer, LockError, type Renewal } from '../../core/index.ts';
import type { Leases } from './leases.ts';
import { type OwnClaim, readFrom, type SeenQueue, secondsOf } from './queue.ts';
import type { Client } from './wire/client.ts';
import { isStatus, STATUS } from './wire/grpc.ts';
import { get, head, isUnder, type KeyValue, shift, stillStands } from './wire/messages.ts';

/** Moves keys to other leases: the place of a waiter to a short one, a hold whose ttl changed to a longer one, all to those of a new leader. */
export class Moves {
  readonly #client: Client;
  readonly #leases: Leases;
  readonly #turns = new KeyedSerializer<OwnClaim>();

  constructor(client: Client, leases: Leases) {
    this.#client = client;
    this.#leases = leases;
  }

  /**
   * Whether the key is known to be under a lease that the leader of now has granted. An earlier leader that stood still, and goes on,
   * may revoke the leases that it knows, for it has not seen that they were kept alive since
   * (https://github.com/etcd-io/etcd/issues/15247).
   * @param seconds of the lease; undefined: of any
   */
  isSettled({ lease, key }: OwnClaim, seconds = lease.seconds): boolean {
    return key === 'settled' && lease.term >= this.#client.term && lease.seconds === seconds;
  }

  /**
   * Gives the head of the queue, or undefined if the key is gone. A claim has one move at a time. The answers to two moves may be read in
   * another order than they were carried out. Then the lease that has the key would be taken for a spare one.
   */
  to(me: OwnClaim, seconds: number, ms?: number, whole?: boolean): Promise<SeenQueue | undefined> {
    return this.#turns.take(me, () => this.#move(me, seconds, ms, whole));
  }

  /**
   * Renews the lease of the key, or moves the key to a lease of so many seconds. Returns whether the key was still there, or why
   * the server refused the move, and the lease that the key is under was renewed instead: a server without space writes
   * nothing, but keeps leases alive. Of two such calls at once only the first moves the key.
   */
  keep(me: OwnClaim, seconds: number, ms?: number): Promise<boolean | LockError> {
    return this.#turns.take(me, async () => {
      if (this.isSettled(me, seconds)) return this.#leases.keepAlive(me.lease, ms);
      try {
        return (await this.#move(me, seconds, ms, true)) !== undefined;
      } catch (error) {
        if (!(error instanceof LockError) || !this.isSettled(me)) throw error;
        return (await this.#leases.keepAlive(me.lease, ms)) && error;
      }
    });
  }

  async #move(me: OwnClaim, seconds: number, ms?: number, whole?: boolean): Promise<SeenQueue | undefined> {
    const isOver = (): boolean => me.state.is === 'over';
    if (isOver()) return undefined;
    const token = me.token!;
    let target = await this.#leases.take(seconds, ms, whole);
    if (isOver()) {
      this.#leases.giveBack(target);
      return undefined;
    }
    // Until the answer comes, the key may be under either lease. A failed move is repeated.
    const before = me.key;
    me.key = 'moving';
    const from = (under: bigint) =>
      this.#leases.use(target, ms, (lease) => {
        target = lease;
        // Only from this lease: an earlier move whose answer was lost may still come, and must not undo this one.
        const compare = [stillStands(me.name, token), isUnder(me.name, under)];
        const success = [shift(me.name, lease.id), head(me.queue)];
        return this.#client.txn({ compare, success, failure: [get(me.name)] }, ms);
      });
    let answer = await from(me.lease.id).catch((error: unknown) => {
      if (error instanceof LockError) {
        me.key = before; // refused for good: it is where it was
        this.#leases.giveBack(target);
      }
      throw error;
    });
    while (!answer.succeeded && !isOver()) {
      const [found] = answer.responses[0]!.range!.kvs;
      if (found?.createRevision !== token) break;
      answer = await from(found.lease); // an earlier move has put it there
    }
    // If the claim was given up meanwhile, its old lease was given back then, and the key under the new lease must go.
    if (isOver()) target.state = 'named';
    this.#leases.giveBack(answer.succeeded && !isOver() ? me.lease : target);
    if (!answer.succeeded || isOver()) return undefined;
    me.lease = target;
    me.key = 'settled';
    return readFrom(answer, 1);
  }
}

/**
 * Renews the holds of one transaction: all their leases at once, then one look at all their keys. Only the look proves a hold: a key
 * that somebody deleted leaves its lease alive, and servers before 3.4.38 may call a lease alive that is being revoked.
 * After the election of a leader all keys move to leases that it has granted: see `Moves.isSettled`.
 * @param sent the deadlines of the holds count from then
 * @throws what went wrong, if nothing is known of any hold
 */
export async function renew(
  client: Client,
  moves: Moves,
  holds: readonly (readonly [claim: Claim, me: OwnClaim | undefined])[],
  sent: number,
  ms: number,
): Promise<Renewal[]> {
  const kept = await Promise.all(
    holds.map(([{ ttl }, me]) => me && moves.keep(me, secondsOf(ttl), ms).catch(() => undefined)),
  );
  const looks = holds.map(([, me]) => me).filter((me) => me !== undefined);
  if (looks.length === 0) return holds.map(() => 'gone');
  const seen = await lookAt(client, looks, ms).catch((error: unknown) => {
    if (!kept.includes(false)) throw error;
    return undefined;
  });
  const isElected = holds.some(([, me], index) => kept[index] && me!.lease.term < client.term);
  if (isElected) return renew(client, moves, holds, sent, ms);
  return holds.map(([, me], index) => {
    if (!me || kept[index] === false) return 'gone';
    if (!seen || kept[index] === undefined) return 'unknown';
    const found = seen[looks.indexOf(me)];
    if (!found || found.createRevision !== me.token) return 'gone';
    if (found.lease !== me.lease.id) me.key = 'moving';
    if (me.key === 'moving') return 'unknown';
    const why = kept[index];
    return { validFor: me.lease.goodUntil - sent, ...(why !== true && { kept: why }) };
  });
}

/** Their keys as they are now. Asks in halves where the server takes fewer operations at a time (`--max-txn-ops`). */
async function lookAt(client: Client, looks: readonly OwnClaim[], ms: number): Promise<(KeyValue | undefined)[]> {
  try {
    const { responses } = await client.txn({ success: looks.map(({ name }) => get(name)) }, ms);
    return responses.map(({ range }) => range!.kvs[0]);
  } catch (error) {
    if (looks.length === 1 || !isStatus((error as LockError).cause, STATUS.invalidArgument)) throw error;
    const half = looks.length >> 1;
    const halves = [looks.slice(0, half), looks.slice(half)];
    return (await Promise.all(halves.map((some) => lookAt(client, some, ms)))).flat();
  }
}
