import { LockError } from '../../core/contract/errors.ts';
import { KeyedSerializer } from '../../core/contract/keyed-serializer.ts';
import { type Contender, isSettled, isUnderLeaseOf } from './contender.ts';
import type { Leases } from './leases.ts';
import { type Line, readFrom } from './line.ts';
import type { Client } from './wire/client.ts';
import { get, isUnder, list, shift, stillStands } from './wire/ops.ts';

/** Moves keys to other leases: the place of a waiter to a short one, a hold whose ttl changed to a longer one, all to those of a new leader. */
export class Moves {
  readonly #client: Client;
  readonly #leases: Leases;
  readonly #turns = new KeyedSerializer<Contender>();

  constructor(client: Client, leases: Leases) {
    this.#client = client;
    this.#leases = leases;
  }

  /**
   * Gives the line, or undefined if the key is gone. A contender has one move at a time. The answers to two moves may be read in
   * another order than they were carried out. Then the lease that has the key would be taken for a spare one.
   */
  to(me: Contender, seconds: number, ms?: number, whole?: boolean): Promise<Line | undefined> {
    return this.#turns.take(me, () => this.#move(me, seconds, ms, whole));
  }

  /**
   * Renews the lease of the key, or moves the key to a lease of so many seconds. Returns whether the key was still there, or why
   * the server refused the move, and the lease that the key is under was renewed instead: a server without space writes
   * nothing, but keeps leases alive. Of two such calls at once only the first moves the key.
   */
  keep(me: Contender, seconds: number, ms?: number): Promise<boolean | LockError> {
    return this.#turns.take(me, async () => {
      if (isUnderLeaseOf(me, seconds, this.#client.term)) return this.#leases.keepAlive(me.lease, ms);
      try {
        return (await this.#move(me, seconds, ms, true)) !== undefined;
      } catch (error) {
        if (!(error instanceof LockError) || !isSettled(me, this.#client.term)) throw error;
        return (await this.#leases.keepAlive(me.lease, ms)) && error;
      }
    });
  }

  async #move(me: Contender, seconds: number, ms?: number, whole?: boolean): Promise<Line | undefined> {
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
        const success = [shift(me.name, lease.id), list(me.line)];
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
