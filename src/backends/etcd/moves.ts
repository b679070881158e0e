import { type Claim, KeyedSerializer, LockError, type Renewal } from '../../core/index.ts';
import type { Leases } from './leases.ts';
import { type OwnClaim, readFrom, type SeenQueue, secondsOf } from './queue.ts';
import type { Client } from './wire/client.ts';
import { isStatus, STATUS } from './wire/grpc.ts';
import { get, head, isUnder, type KeyValue, shift, stillStands } from './wire/messages.ts';

/** Moves keys to other leases: a waiter's key to a short lease, a hold's key to a lease of the hold's ttl, all keys to leases of a new leader. */
export class Moves {
  readonly #client: Client;
  readonly #leases: Leases;
  readonly #turns = new KeyedSerializer<OwnClaim>();

  constructor(client: Client, leases: Leases) {
    this.#client = client;
    this.#leases = leases;
  }

  /**
   * Whether the key is surely under a lease that the present leader has granted. An earlier leader may stop for a while and then go on: it has
   * not seen that its leases were kept alive meanwhile, and may revoke them (https://github.com/etcd-io/etcd/issues/15247).
   * @param seconds the time that the lease must have; by default any
   */
  isSettled({ lease, key }: OwnClaim, seconds = lease.seconds): boolean {
    return key === 'settled' && lease.term >= this.#client.term && lease.seconds === seconds;
  }

  /**
   * Moves the key of a claim to a lease of `seconds`, one move at a time. If two moves ran at once, the answers could arrive in another order
   * than etcd made the moves, and the lease that has the key would be used again as a spare lease.
   * @param unless the state in which the claim keeps its lease: a grant that came meanwhile counts on that lease
   * @returns the head of the queue; undefined if the key is gone, or was not moved
   */
  to(me: OwnClaim, seconds: number, ms?: number, whole?: boolean, unless?: 'admitted'): Promise<SeenQueue | undefined> {
    return this.#turns.take(me, () => this.#move(me, seconds, ms, whole, unless));
  }

  /**
   * Renews the lease of the key, or moves the key to a lease of `seconds`. If two calls come at once, only the first call moves the key.
   * @returns whether the key was still there; the error if the server refused the move, and the present lease was renewed instead: a
   *   server without space writes nothing, but keeps leases alive
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

  async #move(me: OwnClaim, seconds: number, ms?: number, whole?: boolean, unless?: 'admitted') {
    const isOver = (): boolean => me.state.is === 'over';
    if (isOver()) return undefined;
    let target = await this.#leases.take(seconds, ms, whole);
    if (isOver() || me.state.is === unless) {
      this.#leases.giveBack(target);
      return undefined;
    }
    // Until the answer comes, the key may be under either lease. If the move fails, the next call repeats it.
    const before = me.key;
    me.key = 'moving';
    const from = (under: bigint) =>
      this.#leases.use(target, ms, (lease) => {
        target = lease;
        // The key moves only from this lease. So an earlier move, whose answer was lost and which may still arrive, does not undo this move.
        const compare = [stillStands(me.name, me.token!), isUnder(me.name, under)];
        const success = [shift(me.name, lease.id), head(me.queue)];
        return this.#client.txn({ compare, success, failure: [get(me.name)] }, ms);
      });
    let answer = await from(me.lease.id).catch((error: unknown) => {
      if (error instanceof LockError) {
        me.key = before; // refused for good: the key is where it was
        this.#leases.giveBack(target);
      } else me.lease.state = 'named'; // the message may come late: the key must never be under the present lease again then
      throw error;
    });
    while (!answer.succeeded && !isOver()) {
      const [found] = answer.responses[0]!.range!.kvs;
      if (found?.createRevision !== me.token!) break;
      answer = await from(found.lease); // an earlier move has put the key under that lease
    }
    // If the claim was given up meanwhile, its old lease has been given back. The new lease is revoked, which deletes the key under it.
    if (isOver()) target.state = 'named';
    this.#leases.giveBack(answer.succeeded && !isOver() ? me.lease : target);
    if (!answer.succeeded || isOver()) return undefined;
    me.lease = target;
    me.key = 'settled';
    return readFrom(answer, 1);
  }
}

/**
 * Renews holds: all their leases at once, then one transaction reads all their keys. Only the key shows that the hold exists: a lease stays
 * when its key was deleted, and old servers (`check.ts`) may call a lease alive while they revoke it. After an election, all keys move to
 * leases of the new leader: see `Moves.isSettled`.
 * @param sent when the renewal began, by the clock: the deadlines count from then
 * @throws the error of the read
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
  const seen = await lookAt(client, looks, ms);
  const isElected = holds.some(([, me], index) => kept[index] && me!.lease.term < client.term);
  if (isElected) return renew(client, moves, holds, sent, ms);
  return holds.map(([, me], index) => {
    const found = me && seen[looks.indexOf(me)];
    if (!me || !found || found.createRevision !== me.token) return 'gone';
    if (!kept[index]) return 'unknown'; // no answer, or one of a server that is behind and does not know the lease yet
    if (found.lease !== me.lease.id) me.key = 'moving';
    if (me.key === 'moving') return 'unknown';
    const why = kept[index];
    return { validFor: me.lease.goodUntil - sent, ...(why !== true && { kept: why }) };
  });
}

/** Reads the keys of these claims. If the server takes fewer operations at a time (`--max-txn-ops`), each half is read by itself. */
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
