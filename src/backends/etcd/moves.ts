import { KeyedSerializer } from '../../core/keyed-serializer.ts';
import type { Client } from './client.ts';
import { type Contender, isUnderLeaseOf } from './contender.ts';
import type { Lease, Leases } from './leases.ts';
import { type Line, readFrom } from './line.ts';
import type { TxnResponse } from './messages.ts';
import { isUnder, list, look, shift, stillStands } from './ops.ts';
import type { Received } from './protobuf.ts';

/** Puts keys under other leases: the place of a waiter under a short one, a hold whose ttl changed under a longer. */
export class Moves {
  readonly #client: Client;
  readonly #leases: Leases;
  readonly #turns = new KeyedSerializer<Contender>();

  constructor(client: Client, leases: Leases) {
    this.#client = client;
    this.#leases = leases;
  }

  /**
   * Gives the line, or undefined if the key is gone. One move of a contender at a time: the answers to two may be read in
   * another order than they were carried out, and the lease that the key is under would be taken for a spare one.
   */
  to(me: Contender, seconds: number, ms?: number, whole?: boolean): Promise<Line | undefined> {
    return this.#turns.take(me, () => this.#move(me, seconds, ms, whole));
  }

  /**
   * Lets the lease of the key start anew, or another one with so many seconds. Whether the key was still there. Of two at
   * once only the first moves it: nobody who looks meanwhile could tell what it is under.
   */
  keep(me: Contender, seconds: number, ms?: number): Promise<boolean> {
    return this.#turns.take(me, async () => {
      if (isUnderLeaseOf(me, seconds)) return this.#leases.keepAlive(me.lease, ms);
      return (await this.#move(me, seconds, ms, true)) !== undefined;
    });
  }

  async #move(me: Contender, seconds: number, ms?: number, whole?: boolean): Promise<Line | undefined> {
    const isOver = (): boolean => me.state.is === 'over';
    if (isOver()) return undefined;
    const ticket = me.ticket!;
    // Until the answer says so, the key may be under either: whoever looks has to move it again.
    me.key = 'moving';
    let target: Lease = await this.#leases.take(seconds, ms, whole);
    const from = (under: bigint): Promise<Received<typeof TxnResponse>> =>
      this.#leases.use(target, ms, (lease) => {
        target = lease;
        // Only from the lease it is known to be under: a move whose answer was lost may still come, and must not undo this one.
        const compare = [stillStands(me.name, ticket), isUnder(me.name, under)];
        const success = [shift(me.name, lease.id), list(me.line)];
        return this.#client.txn({ compare, success, failure: [look(me.name)] }, ms);
      });
    let answer = await from(me.lease.id);
    while (!answer.succeeded && !isOver()) {
      const [found] = answer.responses[0]!.range!.kvs;
      if (found?.createRevision !== ticket) break;
      answer = await from(found.lease); // where such a move has put it
    }
    // Given up meanwhile: its lease was given back then, and what this put under the other one has to go.
    if (isOver()) target.state = 'named';
    this.#leases.giveBack(answer.succeeded && !isOver() ? me.lease : target);
    if (!answer.succeeded || isOver()) return undefined;
    me.lease = target;
    me.key = 'settled';
    return readFrom(answer, 1);
  }
}
