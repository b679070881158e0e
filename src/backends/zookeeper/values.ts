import {
  type Attempt,
  type Claim,
  type Clock,
  type Handle,
  isAnswer,
  type NewValue,
  type Release,
  type StoredValue,
  type ValueCondition,
  type ValueRecord,
  type Values,
} from '../../core/index.ts';
import { countedIn, leftIn, rememberedIn } from '../shared/record.ts';
import { type RepeatedWatch, watchEach } from '../shared/repeated-watch.ts';
import { type Ask, stat, WATCH_ENDS_ITSELF } from './nodes.ts';
import type { Settings } from './options.ts';
import type { OwnNodes } from './own-nodes.ts';
import { type Stored, StoredValues } from './stored-values.ts';
import type { Connection } from './wire/connection.ts';
import type { Watcher } from './wire/requests.ts';

/** One release in so many removes values of other keys that are over. */
const SWEEP = 8;

/** Values in persistent nodes beside the queues. */
export class ZookeeperValues implements Values {
  readonly #nodes: StoredValues;
  readonly #own: OwnNodes;
  readonly #clock: Clock;
  readonly #ask: Ask;

  constructor({ root, acl, clock }: Settings, own: OwnNodes, ask: Ask) {
    this.#nodes = new StoredValues(root, acl);
    this.#own = own;
    this.#clock = clock;
    this.#ask = ask;
  }

  look(key: string): Promise<ValueRecord> {
    return this.#ask('look at a value', async (connection) => {
      const { record, now } = await this.#nodes.read(connection, key, true);
      return rememberedIn(record, now);
    });
  }

  async *keys(prefix: string, progress?: (looked: number) => void): AsyncIterable<string> {
    const connection = await this.#ask('list values', async (open) => open);
    yield* this.#nodes.keys(connection, prefix, progress);
  }

  forget(key: string): Promise<boolean> {
    return this.#ask('forget a value', (connection) => this.#nodes.remove(connection, key));
  }

  /**
   * Looks at the value after the attempt: only a holder stores one, so a claim that was granted has seen the last of them.
   * @param sent when the attempt was asked for, by the clock
   */
  async ask(
    connection: Connection,
    claim: Claim,
    accepts: ValueCondition,
    sent: number,
    attempt: () => Promise<Attempt>,
  ): Promise<Attempt> {
    const came = await attempt();
    if (!came.granted && came.late) return came;
    const place = this.#own.get(claim.id, connection.session);
    const looked = this.#clock.now();
    const stored = await this.#nodes.read(connection, claim.key, false);
    const value = valueAsOf(stored, looked - sent, place && { token: place.token, waited: sent - place.made! });
    if (value && isAnswer(value, accepts.age)) {
      await this.#own.withdraw(connection, claim).catch(() => {});
      return { granted: false, value };
    }
    const { record, now, counted } = stored;
    const parent = this.#own.parent(claim.key);
    const stands = !came.granted && counted !== undefined && (await stat(connection, `${parent}/${counted}`));
    const first = stands && stands.czxid === record?.begun ? record.begun : undefined;
    const { attempt: answer, changed } = countedIn(record, claim, accepts, came, now, first);
    if (changed) await this.#nodes.count(connection, claim.key, changed, now, place!.name);
    return answer;
  }

  /** Frees the key and stores the value in one transaction. */
  async store(connection: Connection, handle: Handle, value: NewValue): Promise<Release> {
    const { id, key } = handle;
    const place = this.#own.get(id, connection.session);
    const isHeld = place?.lost !== undefined;
    const stored = isHeld && (await this.#nodes.store(connection, key, place.path, place.token, value));
    if (isHeld && this.#clock.random() < 1 / SWEEP) {
      this.#nodes.sweep(connection, key, this.#clock.random()).catch(() => undefined); // the next sweep finds them, too
    }
    this.#own.giveUp(handle);
    if (stored) this.#own.forgive(id);
    else await this.#own.leave(connection, handle);
    return { freed: stored, stored };
  }

  /** Wakes the claim each time a value is stored or removed. */
  listen({ key }: Claim, wake: () => void): RepeatedWatch {
    const set = async (notify: Watcher) => {
      await this.#ask('watch for a value', (connection) => this.#nodes.watch(connection, key, notify));
      return WATCH_ENDS_ITSELF;
    };
    return watchEach(set, wake, this.#clock);
  }
}

/**
 * The value, with its age at the time at which an attempt was sent, and never told as less. Two things tell it: the leader's clock, and
 * the order of its transactions, where the value was stored after the claim had its node.
 * @param since how long before the look the attempt was sent, ms
 * @param place how long before the attempt that node was made at most, ms
 */
function valueAsOf(
  { record, now, zxid }: Stored,
  since: number,
  place: { readonly token: bigint; readonly waited: number } | undefined,
): StoredValue | undefined {
  const value = leftIn(record, now);
  if (!value) return undefined;
  const waited = place && zxid > place.token ? place.waited : Number.POSITIVE_INFINITY;
  if (value.age < 0 && waited === Number.POSITIVE_INFINITY) return value;
  return { ...value, age: Math.max(0, Math.min(value.age - since, waited)) };
}
