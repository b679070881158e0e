import type {
  Attempt,
  Claim,
  Handle,
  NewValue,
  Release,
  ValueCondition,
  ValueRecord,
  Values,
} from '../../core/contract/backend.ts';
import { isAnswer, NO_MARK } from '../../core/contract/left.ts';
import type { Contenders } from './contenders.ts';
import type { EtcdConnection } from './options.ts';
import { type Contender, linePrefix, type WordsLease } from './queue.ts';
import {
  endLease,
  endLeases,
  leftIn,
  lookAt,
  readAttempts,
  type Seen,
  wordsLease,
  wordsNames,
  wordsRange,
  writeAttempts,
  writeLeft,
} from './stored-values.ts';
import type { Watches } from './waiters.ts';
import type { Client } from './wire/client.ts';
import { isStatus, STATUS } from './wire/grpc.ts';
import { endOf, ifUnchanged, list, listing, look, remove, stand, stillStands } from './wire/messages.ts';

/** How often a hold is counted while others forget the attempts of its key. */
const MOST_COUNTS = 3;
/** Names of a listing that are asked for at once. */
const PAGE = 1_000n;

/** Words beside the lines. The server has no clock, so leases end them. */
export class EtcdWords implements Values {
  readonly #etcd: EtcdConnection;
  readonly #client: Client;
  readonly #contenders: Contenders;

  constructor(opened: EtcdConnection, contenders: Contenders) {
    this.#etcd = opened;
    this.#client = opened.client;
    this.#contenders = contenders;
  }

  async look(key: string): Promise<ValueRecord> {
    const seen = await lookAt(this.#client, wordsNames(this.#etcd.prefix, key));
    const { attempts, mark, begun } = readAttempts(seen.attempts?.value);
    const value = await leftIn(this.#client, seen);
    return { ...(value && { value }), attempts, mark, begun };
  }

  async *keys(prefix: string): AsyncIterable<string> {
    const [folder] = wordsRange(this.#etcd.prefix);
    const first = Buffer.from(`${folder}${encodeURIComponent(prefix)}`);
    let last: string | undefined;
    for (let key = first, more = true; more; ) {
      const page = await this.#client.range({ key, rangeEnd: endOf(first), limit: PAGE, keysOnly: true });
      for (const { key: name } of page.kvs) {
        const [encoded] = name.toString().slice(folder.length).split('/');
        if (encoded !== last) yield decodeURIComponent(encoded!);
        last = encoded;
      }
      more = page.more;
      if (more) key = Buffer.concat([page.kvs.at(-1)!.key, Buffer.from([0])]);
    }
  }

  async forget(key: string): Promise<boolean> {
    const names = wordsNames(this.#etcd.prefix, key);
    const success = [list(names.both), remove(names.left), remove(names.attempts)];
    const [before] = (await this.#client.txn({ success })).responses;
    return endLeases(this.#client, before!.range!.kvs);
  }

  /**
   * Looks at the words after the attempt: only a holder leaves some, so a claim that was granted has seen the last of them.
   * @param sent when the attempt was asked for, by the clock
   */
  async ask(claim: Claim, answered: ValueCondition, sent: number, attempt: () => Promise<Attempt>): Promise<Attempt> {
    const came = await attempt();
    if (!came.granted && came.late) return came;
    const names = wordsNames(this.#etcd.prefix, claim.key);
    const me = this.#contenders.known.get(claim.id);
    const at = this.#etcd.clock.now();
    const seen = await lookAt(this.#client, names);
    const value = await leftIn(this.#client, seen, me, sent);
    if (value && isAnswer(value, answered.age)) {
      // If this fails, the place ends with its lease. The id is never attempted again.
      await this.#contenders.release(claim, undefined, this.#etcd.timeout).catch(() => undefined);
      return { granted: false, value };
    }
    if (me) me.looked = { revision: seen.revision, at };
    if (!came.granted) return { ...came, mark: await this.#markBehind(claim, seen) };
    return answered.counts > 0 ? { ...came, attempts: await this.#count(claim, answered, came.token, seen) } : came;
  }

  /** What a claim sees of the hold that stands first: an earlier one, which failed or died, may have set the mark. */
  async #markBehind({ key }: Claim, { attempts }: Seen): Promise<string> {
    const { mark, begun } = readAttempts(attempts?.value);
    if (mark === NO_MARK) return mark;
    const first = await this.#client.range({
      ...listing(linePrefix(this.#etcd.prefix, key)),
      limit: 1n,
      keysOnly: true,
    });
    return first.kvs[0]?.createRevision === begun ? mark : NO_MARK;
  }

  /** Frees the key and leaves the words in one transaction. */
  async leave(handle: Handle, leave: NewValue): Promise<Release> {
    const { known } = this.#contenders;
    const me = known.get(handle.id);
    if (me?.state.is !== 'admitted') {
      await this.#contenders.release(handle, undefined, this.#etcd.timeout);
      return { freed: false, stored: false };
    }
    const isRepeated = me.wordsLease !== undefined;
    me.wordsLease ??= await wordsLease(this.#client, leave.ttl);
    const { id } = me.wordsLease;
    const stored = await this.#put(me, handle.key, me.wordsLease, leave).catch((error: unknown) => {
      if (isStatus(error, STATUS.notFound)) me.wordsLease = undefined; // it ended before an answer came
      throw error;
    });
    // If this release is repeated, the first one may have put the words under that lease.
    if (!stored && !isRepeated) endLease(this.#client, id);
    if (!stored) me.lease.state = 'named';
    known.forget(handle.id);
    return { freed: stored, stored };
  }

  async #put(me: Contender, key: string, { id, term }: WordsLease, leave: NewValue): Promise<boolean> {
    const names = wordsNames(this.#etcd.prefix, key);
    const words = stand(names.left, writeLeft(me.token!, term, leave), id);
    const { succeeded, responses } = await this.#client.txn({
      compare: [stillStands(me.name, me.token!)],
      success: [list(names.both), words, remove(names.attempts), remove(me.name)],
      failure: [look(me.name)],
    });
    if (succeeded) endLeases(this.#client, responses[0]!.range!.kvs);
    return succeeded;
  }

  /** Counts a hold once. @returns the attempts, this one included */
  async #count(claim: Claim, { mark, counts }: ValueCondition, token: bigint, first: Seen): Promise<number> {
    const names = wordsNames(this.#etcd.prefix, claim.key);
    const { name } = this.#contenders.known.get(claim.id)!;
    let { attempts: found } = first;
    for (let count = 1; count <= MOST_COUNTS; count++) {
      const { begun, attempts } = readAttempts(found?.value);
      if (begun === token) return attempts;
      const { id } = await wordsLease(this.#client, claim.ttl + counts);
      const { succeeded } = await this.#client.txn({
        compare: [stillStands(name, token), ifUnchanged(names.attempts, found?.modRevision ?? 0n)],
        success: [stand(names.attempts, writeAttempts({ attempts: attempts + 1, begun: token, mark }), id)],
      });
      if (succeeded) {
        endLeases(this.#client, found ? [found] : []);
        return attempts + 1;
      }
      endLease(this.#client, id);
      found = (await lookAt(this.#client, names)).attempts;
    }
    throw new Error('the hold is gone, or its attempts were forgotten each time it was counted');
  }
}

/** The pause before a watch that could not be set is tried again, ms. Meanwhile the claim asks by its own timer. */
const PAUSE = 1_000;

/** Calls `wake` each time words are left under the key, until the returned function is called. */
export async function listenForWords(
  { client, prefix, clock }: EtcdConnection,
  watches: Watches,
  key: string,
  wake: () => void,
): Promise<() => void> {
  const { left } = wordsNames(prefix, key);
  let isOver = false;
  let end = (): void => {};
  const arm = async (): Promise<void> => {
    const { header } = await client.range({ key: left, keysOnly: true });
    if (isOver) return;
    const stop = await watches.watch({ key: left, puts: true, from: header!.revision + 1n }, fired);
    if (isOver) stop();
    else end = stop;
  };
  const armAgain = (): void => {
    if (isOver) return;
    arm().then(wake, () => {
      wake();
      end = clock.after(PAUSE, armAgain, true);
    });
  };
  const fired = (): void => {
    end = () => {};
    armAgain();
  };
  await arm();
  return () => {
    isOver = true;
    end();
  };
}
