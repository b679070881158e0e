import type {
  Answerable,
  Attempt,
  Claim,
  Handle,
  Leave,
  Release,
  Remembered,
  Words,
} from '../../core/contract/backend.ts';
import { isAnswer, NO_MARK } from '../../core/contract/left.ts';
import type { Contender, WordsLease } from './contender.ts';
import type { Contenders } from './contenders.ts';
import { linePrefix } from './line.ts';
import type { EtcdConnection } from './options.ts';
import { endLease, endLeases, leftIn, lookAt, type Seen, wordsLease } from './stored-words.ts';
import type { Client } from './wire/client.ts';
import { isStatus, STATUS } from './wire/grpc.ts';
import { endOf, ifUnchanged, list, listing, look, remove, stand, stillStands } from './wire/ops.ts';
import { readTries, wordsNames, wordsRange, writeLeft, writeTries } from './words-names.ts';

/** How often a hold is counted while others forget the tries of its key. */
const MOST_COUNTS = 3;
/** Names of a listing that are asked for at once. */
const PAGE = 1_000n;

/** Words beside the lines. The server has no clock, so leases end them. */
export class EtcdWords implements Words {
  readonly #etcd: EtcdConnection;
  readonly #client: Client;
  readonly #contenders: Contenders;

  constructor(opened: EtcdConnection, contenders: Contenders) {
    this.#etcd = opened;
    this.#client = opened.client;
    this.#contenders = contenders;
  }

  async look(key: string): Promise<Remembered> {
    const seen = await lookAt(this.#client, wordsNames(this.#etcd.prefix, key));
    const { tries, mark, begun } = readTries(seen.tries?.value);
    const left = await leftIn(this.#client, seen);
    return { ...(left && { left }), tries, mark, begun };
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
    const success = [list(names.both), remove(names.left), remove(names.tries)];
    const [before] = (await this.#client.txn({ success })).responses;
    return endLeases(this.#client, before!.range!.kvs);
  }

  /**
   * Looks at the words after the attempt: only a holder leaves some, so a claim that was granted has seen the last of them.
   * @param sent when the attempt was asked for, by the clock
   */
  async ask(claim: Claim, answered: Answerable, sent: number, attempt: () => Promise<Attempt>): Promise<Attempt> {
    const came = await attempt();
    if (!came.granted && came.late) return came;
    const names = wordsNames(this.#etcd.prefix, claim.key);
    const me = this.#contenders.known.get(claim.id);
    const at = this.#etcd.clock.now();
    const seen = await lookAt(this.#client, names);
    const left = await leftIn(this.#client, seen, me, sent);
    if (left && isAnswer(left, answered.age)) {
      // If this fails, the place ends with its lease. The id is never attempted again.
      await this.#contenders.release(claim, undefined, this.#etcd.timeout).catch(() => undefined);
      return { granted: false, left };
    }
    if (me) me.looked = { revision: seen.revision, at };
    if (!came.granted) return { ...came, mark: await this.#markBehind(claim, seen) };
    return answered.counts > 0 ? { ...came, tries: await this.#count(claim, answered, came.token, seen) } : came;
  }

  /** What a claim sees of the hold that stands first: an earlier one, which failed or died, may have set the mark. */
  async #markBehind({ key }: Claim, { tries }: Seen): Promise<string> {
    const { mark, begun } = readTries(tries?.value);
    if (mark === NO_MARK) return mark;
    const first = await this.#client.range({
      ...listing(linePrefix(this.#etcd.prefix, key)),
      limit: 1n,
      keysOnly: true,
    });
    return first.kvs[0]?.createRevision === begun ? mark : NO_MARK;
  }

  /** Frees the key and leaves the words in one transaction. */
  async leave(handle: Handle, leave: Leave): Promise<Release> {
    const { known } = this.#contenders;
    const me = known.get(handle.id);
    if (me?.state.is !== 'admitted') {
      await this.#contenders.release(handle, undefined, this.#etcd.timeout);
      return { freed: false, left: false };
    }
    const isRepeated = me.wordsLease !== undefined;
    me.wordsLease ??= await wordsLease(this.#client, leave.ttl);
    const { id } = me.wordsLease;
    const left = await this.#put(me, handle.key, me.wordsLease, leave).catch((error: unknown) => {
      if (isStatus(error, STATUS.notFound)) me.wordsLease = undefined; // it ended before an answer came
      throw error;
    });
    // If this release is repeated, the first one may have put the words under that lease.
    if (!left && !isRepeated) endLease(this.#client, id);
    if (!left) me.lease.state = 'named';
    known.forget(handle.id);
    return { freed: left, left };
  }

  async #put(me: Contender, key: string, { id, term }: WordsLease, leave: Leave): Promise<boolean> {
    const names = wordsNames(this.#etcd.prefix, key);
    const words = stand(names.left, writeLeft(me.token!, term, leave), id);
    const { succeeded, responses } = await this.#client.txn({
      compare: [stillStands(me.name, me.token!)],
      success: [list(names.both), words, remove(names.tries), remove(me.name)],
      failure: [look(me.name)],
    });
    if (succeeded) endLeases(this.#client, responses[0]!.range!.kvs);
    return succeeded;
  }

  /** Counts a hold once. @returns the tries, this one included */
  async #count(claim: Claim, { mark, counts }: Answerable, token: bigint, first: Seen): Promise<number> {
    const names = wordsNames(this.#etcd.prefix, claim.key);
    const { name } = this.#contenders.known.get(claim.id)!;
    let { tries: found } = first;
    for (let count = 1; count <= MOST_COUNTS; count++) {
      const { begun, tries } = readTries(found?.value);
      if (begun === token) return tries;
      const { id } = await wordsLease(this.#client, claim.ttl + counts);
      const { succeeded } = await this.#client.txn({
        compare: [stillStands(name, token), ifUnchanged(names.tries, found?.modRevision ?? 0n)],
        success: [stand(names.tries, writeTries({ tries: tries + 1, begun: token, mark }), id)],
      });
      if (succeeded) {
        endLeases(this.#client, found ? [found] : []);
        return tries + 1;
      }
      endLease(this.#client, id);
      found = (await lookAt(this.#client, names)).tries;
    }
    throw new Error('the hold is gone, or its tries were forgotten each time it was counted');
  }
}
