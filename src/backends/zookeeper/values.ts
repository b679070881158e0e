import type {
  Attempt,
  Claim,
  Handle,
  NewValue,
  Release,
  StoredValue,
  ValueCondition,
  ValueRecord,
  Values,
} from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';
import { isAnswer } from '../../core/contract/left.ts';
import { countedIn, leftIn, rememberedIn } from '../shared/record.ts';
import { type Ask, stat } from './nodes.ts';
import type { OwnNode } from './own-node.ts';
import type { Places } from './places.ts';
import type { StoredWords, WordsNodes } from './stored-values.ts';
import { LineWatch } from './wake-ups.ts';
import type { Connection } from './wire/connection.ts';
import type { Watcher } from './wire/requests.ts';

/** One release in so many removes words of other keys that are over. */
const SWEEP = 8;

/** Words in persistent nodes beside the lines. */
export class ZookeeperWords implements Values {
  readonly #nodes: WordsNodes;
  readonly #places: Places;
  readonly #clock: Clock;
  readonly #ask: Ask;

  constructor(nodes: WordsNodes, places: Places, clock: Clock, ask: Ask) {
    this.#nodes = nodes;
    this.#places = places;
    this.#clock = clock;
    this.#ask = ask;
  }

  look(key: string): Promise<ValueRecord> {
    return this.#ask('look at words', async (connection) => {
      const { record, now } = await this.#nodes.read(connection, key, true);
      return rememberedIn(record, now);
    });
  }

  async *keys(prefix: string, progress?: (looked: number) => void): AsyncIterable<string> {
    const connection = await this.#ask('list words', async (open) => open);
    yield* this.#nodes.keys(connection, prefix, progress);
  }

  forget(key: string): Promise<boolean> {
    return this.#ask('forget words', (connection) => this.#nodes.remove(connection, key));
  }

  /**
   * Looks at the words after the attempt: only a holder leaves some, so a claim that was granted has seen the last of them.
   * @param sent when the attempt was asked for, by the clock
   */
  async ask(
    connection: Connection,
    claim: Claim,
    answered: ValueCondition,
    sent: number,
    attempt: () => Promise<Attempt>,
  ): Promise<Attempt> {
    const came = await attempt();
    if (!came.granted && came.late) return came;
    const place = this.#places.get(claim.id, connection.session);
    const looked = this.#clock.now();
    const stored = await this.#nodes.read(connection, claim.key, false);
    const value = leftAsOf(stored, looked - sent, place && { token: place.token, waited: sent - place.made! });
    if (value && isAnswer(value, answered.age)) {
      this.#places.giveUp(claim);
      await this.#places.leave(connection, claim).catch(() => {}); // if this fails, the next connection removes the node
      return { granted: false, value };
    }
    const { record, now, counted } = stored;
    const parent = this.#places.parent(claim.key);
    const stands = !came.granted && counted !== undefined && (await stat(connection, `${parent}/${counted}`));
    const first = stands && stands.czxid === record?.begun ? record.begun : undefined;
    const { attempt: told, changed } = countedIn(record, claim, answered, came, now, first);
    if (changed) await this.#nodes.count(connection, claim.key, changed, now, place!.name);
    return told;
  }

  /** Frees the key and leaves the words in one transaction. */
  async leave(connection: Connection, handle: Handle, leave: NewValue): Promise<Release> {
    const place = this.#places.get(handle.id, connection.session);
    const stored = place?.lost !== undefined && (await this.#leave(connection, handle, place, leave));
    this.#places.giveUp(handle);
    if (stored) this.#places.forgive(handle.id);
    else await this.#places.leave(connection, handle);
    return { freed: stored, stored };
  }

  async #leave(connection: Connection, { key }: Handle, { path, token }: OwnNode, leave: NewValue): Promise<boolean> {
    const left = await this.#nodes.leave(connection, key, path, token, leave);
    if (this.#clock.random() < 1 / SWEEP)
      this.#nodes.sweep(connection, key, this.#clock.random()).catch(() => undefined); // the next sweep finds them, too
    return left;
  }

  /** Wakes the claim each time words are left, or removed, when the next watch is set. */
  listen({ key }: Claim, wake: () => void): LineWatch {
    let isFirst = true;
    const look = async (tell: Watcher): Promise<boolean> => {
      await this.#ask('watch for words', (connection) => this.#nodes.watch(connection, key, tell));
      if (!isFirst) wake();
      isFirst = false;
      return true;
    };
    return new LineWatch(look, wake, this.#clock);
  }
}

/**
 * The words, with their age at the time at which an attempt was sent, and never told as less. Two things tell it: the leader's clock, and
 * the order of its transactions, where the words were left after the claim had its node.
 * @param since how long before the look the attempt was sent, ms
 * @param place how long before the attempt that node was made at most, ms
 */
function leftAsOf(
  { record, now, zxid }: StoredWords,
  since: number,
  place: { readonly token: bigint; readonly waited: number } | undefined,
): StoredValue | undefined {
  const left = leftIn(record, now);
  if (!left) return undefined;
  const waited = place && zxid > place.token ? place.waited : Number.POSITIVE_INFINITY;
  if (left.age < 0 && waited === Number.POSITIVE_INFINITY) return left;
  return { ...left, age: Math.max(0, Math.min(left.age - since, waited)) };
}
