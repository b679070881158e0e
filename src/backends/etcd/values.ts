import {
  type Attempt,
  type Claim,
  type Handle,
  isAnswer,
  type NewValue,
  NO_MARK,
  type Release,
  type ValueCondition,
  type ValueRecord,
  type Values,
} from '../../core/index.ts';
import { type RepeatedWatch, watchEach } from '../shared/repeated-watch.ts';
import type { ServerLease } from './leases.ts';
import type { EtcdConnection } from './options.ts';
import type { OwnClaims } from './own-claims.ts';
import { type OwnClaim, secondsOf } from './queue.ts';
import { readAttempts, type Seen, StoredValues, writeAttempts, writeValue } from './stored-values.ts';
import { isStatus, STATUS } from './wire/grpc.ts';
import { ifUnchanged, list, listing, look, remove, stand, stillStands } from './wire/messages.ts';

/** How often a hold is counted while others forget the attempts of its key. */
const MAX_COUNTS = 3;

/** Values beside the queues. */
export class EtcdValues implements Values {
  readonly #etcd: EtcdConnection;
  readonly #own: OwnClaims;
  readonly #stored: StoredValues;

  constructor(opened: EtcdConnection, claims: OwnClaims) {
    this.#etcd = opened;
    this.#own = claims;
    this.#stored = new StoredValues(opened.client, opened.prefix);
  }

  async look(key: string): Promise<ValueRecord> {
    const seen = await this.#stored.look(key);
    const { attempts, mark, begun } = readAttempts(seen.attempts);
    const value = await this.#stored.valueIn(seen);
    return { ...(value && { value }), attempts, mark, begun };
  }

  keys(prefix: string): AsyncIterable<string> {
    return this.#stored.keys(prefix);
  }

  async forget(key: string): Promise<boolean> {
    const names = this.#stored.namesOf(key);
    const success = [list(names.both), remove(names.value), remove(names.attempts)];
    const { kvs } = (await this.#etcd.client.txn({ success })).responses[0]!.range!;
    for (const { lease } of kvs) this.#own.leases.endSoon(lease);
    return kvs.length > 0;
  }

  /**
   * Looks at the value after the attempt: only a holder stores one, so a claim that was granted has seen the last of them.
   * @param sent when the attempt was asked for, by the clock
   */
  async ask(claim: Claim, accepts: ValueCondition, sent: number, attempt: () => Promise<Attempt>): Promise<Attempt> {
    const came = await attempt();
    if (!came.granted && came.late) return came;
    const me = this.#own.known.get(claim.id);
    const at = this.#etcd.clock.now();
    const seen = await this.#stored.look(claim.key);
    const value = await this.#stored.valueIn(seen, me, sent);
    if (value && isAnswer(value, accepts.age)) {
      // If this fails, the claim ends with its lease. The id is never attempted again.
      await this.#own.release(claim, undefined, this.#etcd.timeout).catch(() => undefined);
      return { granted: false, value };
    }
    if (me) me.looked = { revision: seen.revision, at };
    if (!came.granted) return { ...came, mark: await this.#markBehind(claim, seen) };
    return accepts.counts > 0 ? { ...came, attempts: await this.#count(claim, accepts, came.token, seen) } : came;
  }

  /** What a claim sees of the hold that stands first: an earlier one, which failed or died, may have set the mark. */
  async #markBehind({ key }: Claim, { attempts }: Seen): Promise<string> {
    const { mark, begun } = readAttempts(attempts);
    if (mark === NO_MARK) return mark;
    const queue = listing(this.#own.known.queueOf(key));
    const [first] = (await this.#etcd.client.range({ ...queue, limit: 1n, keysOnly: true })).kvs;
    return first?.createRevision === begun ? mark : NO_MARK;
  }

  /** Frees the key and stores the value in one transaction. */
  async store(handle: Handle, value: NewValue): Promise<Release> {
    const { known } = this.#own;
    const me = known.get(handle.id);
    if (me?.state.is !== 'admitted') {
      await this.#own.release(handle, undefined, this.#etcd.timeout);
      return { freed: false, stored: false };
    }
    const isRepeated = me.valueLease !== undefined;
    me.valueLease ??= await this.#own.leases.grant(secondsOf(value.ttl));
    const { id } = me.valueLease;
    const stored = await this.#put(me, handle.key, me.valueLease, value).catch((error: unknown) => {
      if (isStatus(error, STATUS.notFound)) me.valueLease = undefined; // it ended before an answer came
      throw error;
    });
    // If this release is repeated, the first one may have put the value under that lease.
    if (!stored && !isRepeated) this.#own.leases.endSoon(id);
    if (!stored) me.lease.state = 'named';
    known.forget(handle.id);
    return { freed: stored, stored };
  }

  async #put(me: OwnClaim, key: string, { id, term }: ServerLease, value: NewValue): Promise<boolean> {
    const names = this.#stored.namesOf(key);
    const put = stand(names.value, writeValue(me.token!, term, value), id);
    const { succeeded, responses } = await this.#etcd.client.txn({
      compare: [stillStands(me.name, me.token!)],
      success: [list(names.both), put, remove(names.attempts), remove(me.name)],
      failure: [look(me.name)],
    });
    if (succeeded) for (const { lease } of responses[0]!.range!.kvs) this.#own.leases.endSoon(lease);
    return succeeded;
  }

  /** Counts a hold once. @returns the attempts, this one included */
  async #count(claim: Claim, { mark, counts }: ValueCondition, token: bigint, first: Seen): Promise<number> {
    const { name } = this.#own.known.get(claim.id)!;
    const { attempts: counted } = this.#stored.namesOf(claim.key);
    let { attempts: found } = first;
    for (let count = 1; count <= MAX_COUNTS; count++) {
      const { begun, attempts } = readAttempts(found);
      if (begun === token) return attempts;
      const { id } = await this.#own.leases.grant(secondsOf(claim.ttl + counts));
      const { succeeded } = await this.#etcd.client.txn({
        compare: [stillStands(name, token), ifUnchanged(counted, found?.modRevision ?? 0n)],
        success: [stand(counted, writeAttempts({ attempts: attempts + 1, begun: token, mark }), id)],
      });
      if (succeeded) {
        if (found) this.#own.leases.endSoon(found.lease);
        return attempts + 1;
      }
      this.#own.leases.endSoon(id);
      found = (await this.#stored.look(claim.key)).attempts;
    }
    throw new Error('the hold is gone, or its attempts were forgotten each time it was counted');
  }

  /** Wakes the claim each time a value is stored under its key. */
  listen({ key }: Claim, wake: () => void): RepeatedWatch {
    const value = { key: this.#stored.namesOf(key).value, puts: true };
    return watchEach((notify) => this.#own.watches.next(value, notify), wake, this.#etcd.clock);
  }
}
