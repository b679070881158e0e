import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Handle,
  KeyedSerializer,
  type Listing,
  LockError,
  leastOf,
  type NewValue,
  type QueueEntry,
  type Release,
  type Renewal,
  type Traits,
  type Wake,
} from '../../core/index.ts';
import { together, watchEach } from '../shared/repeated-watch.ts';
import { entriesOf } from '../shared/stored-queue.ts';
import { CONSENSUS_TRAITS } from '../shared/traits.ts';
import { check } from './check.ts';
import { renew } from './moves.ts';
import { type EtcdConnection, type EtcdOptions, open } from './options.ts';
import { OwnClaims } from './own-claims.ts';
import { type ClaimEntry, claimKey, entryOf, queueNow, queuePrefix } from './queue.ts';
import { EtcdValues, valueSpan } from './values.ts';
import type { Client, Span } from './wire/client.ts';
import { endOf, remove, stillStands, TIME_TO_LIVE } from './wire/messages.ts';

const TRAITS: Traits = {
  ...CONSENSUS_TRAITS,
  expires: true,
  // Each hold has a lease of its own. A lease is used again only when its key is surely deleted.
  lifetime: 'lease',
  // etcd counts whole seconds, and grants no lease shorter than one and a half election timeouts.
  ttl: { min: 1_000, max: 9_000_000_000_000 },
};

/** By default, etcd takes 128 operations in a transaction (`--max-txn-ops`). */
const MAX_BATCH = 128;
/** How many batches of a large renewal run at a time. If ten thousand holds were renewed at once, nearly all answers would come too late. */
const MAX_BATCHES = 8;

/**
 * Locks on an etcd cluster, 3.4 or later. The backend opens its own connection, and `close` ends that connection.
 * @throws LockError `LOCK_INVALID` for a bad option. Nothing is sent before the first lock is asked for.
 * @example const locks = createLocks(etcd({ endpoints: ['10.0.0.1:2379', '10.0.0.2:2379', '10.0.0.3:2379'] }));
 */
export const etcd = (options: EtcdOptions): Backend => new Etcd(open(options));

export class Etcd implements Backend {
  readonly name = 'etcd';
  readonly traits = TRAITS;
  readonly values: EtcdValues;
  readonly #etcd: EtcdConnection;
  readonly #own: OwnClaims;
  readonly #attempts = new KeyedSerializer();
  readonly #renewals = new KeyedSerializer<number>();
  #lane = 0;

  constructor(opened: EtcdConnection) {
    this.#etcd = opened;
    this.#own = new OwnClaims(opened);
    this.values = new EtcdValues(opened, this.#own);
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const sent = this.#etcd.clock.now();
    if (claim.minToken !== undefined) {
      const message =
        'etcd numbers its own grants: a quorum cannot propose tokens to it, and one cluster is a quorum already';
      throw new LockError('LOCK_UNSUPPORTED', message, { key: claim.key, backend: this.name });
    }
    return this.#attempts.take(claim.id, async () => {
      const isFirst = this.#own.known.get(claim.id) === undefined;
      const ms = Math.min(this.#etcd.timeout, claim.within);
      const attempt = (): Promise<Attempt> => this.#own.attempt(claim, sent, ms);
      try {
        return await (claim.accepts ? this.values.ask(claim, claim.accepts, sent, attempt) : attempt());
      } catch (error) {
        // A definite refusal may come after the claim has joined, which must not stay in the queue then. Of a later attempt core decides: it
        // withdraws the claim, unless a notification has granted it meanwhile.
        if (isFirst && error instanceof LockError) await this.release(claim).catch(() => undefined);
        throw error;
      }
    });
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const sent = this.#etcd.clock.now();
    // A third of the lease: time is left for a second call, to another member, before the hold expires.
    const thirds = claims.map(({ ttl }) => ttl / 3);
    const ms = leastOf(thirds, this.#etcd.timeout);
    const renewals: Promise<Renewal[]>[] = [];
    for (let at = 0; at < claims.length; at += MAX_BATCH) {
      const batch = claims.slice(at, at + MAX_BATCH);
      const work = () => this.#renew(batch, sent, ms);
      const unknown = (): Renewal[] => batch.map(() => 'unknown');
      this.#lane = (this.#lane + 1) % MAX_BATCHES;
      renewals.push(claims.length > MAX_BATCH ? this.#renewals.take(this.#lane, work).catch(unknown) : work());
    }
    return (await Promise.all(renewals)).flat();
  }

  async #renew(batch: readonly Claim[], sent: number, ms: number): Promise<Renewal[]> {
    if (this.#etcd.clock.now() - sent >= ms) return batch.map(() => 'unknown'); // nobody waits for the answer any more
    const { known, moves } = this.#own;
    const holds = batch.map((claim) => [claim, known.standing(claim.id)] as const);
    const renewals = await renew(this.#etcd.client, moves, holds, sent, ms);
    for (const [index, { id }] of batch.entries()) if (renewals[index] === 'gone') known.forget(id);
    return renewals;
  }

  release(handle: Handle): Promise<Release> {
    return this.#own.release(handle);
  }

  store(handle: Handle, value: NewValue): Promise<boolean> {
    return this.values.store(handle, value);
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const { waiters, known } = this.#own;
    const value = claim.accepts && this.values.listen(claim, wake);
    await value?.arm();
    const waiting = await waiters.watch(claim, known.get(claim.id), wake).catch((error: unknown) => {
      void value?.[Symbol.asyncDispose]();
      throw error;
    });
    return together(value, waiting);
  }

  async watchHold({ key, id }: Claim, wake: Wake): Promise<AsyncDisposable> {
    const { prefix, clock } = this.#etcd;
    const hold = { key: claimKey(queuePrefix(prefix, key), id), puts: false };
    const watch = watchEach((notify) => this.#own.watches.next(hold, notify), wake, clock);
    await watch.arm();
    return watch;
  }

  /** Lists one queue after the other, all as they are at one revision. */
  async *inspect(start: string, { exact = false }: Listing = {}): AsyncIterable<QueueEntry> {
    const { client, prefix } = this.#etcd;
    const queue: ClaimEntry[] = [];
    let key = '';
    const first = Buffer.from(`${prefix}/${encodeURIComponent(start)}${exact ? '/' : ''}`);
    const until = endOf(first);
    const [from, to] = valueSpan(prefix); // values may be long and are not listed
    const around: Span[] = [
      [first, from],
      [to, until],
    ];
    // The keys come in the order of their names, so the claims of one lock follow each other.
    for await (const found of client.all(start === '' && !exact ? around : [[first, until]])) {
      const next = keyOf(found.key);
      if (next === undefined) continue;
      if (next !== key) yield* await entries(client, key, queue.splice(0));
      key = next;
      queue.push(entryOf(found));
    }
    yield* await entries(client, key, queue);
  }

  async changed(key: string, notify: () => void): Promise<AsyncDisposable> {
    const queue = queuePrefix(this.#etcd.prefix, key);
    const end = await this.#own.watches.next({ key: queue, rangeEnd: endOf(queue), puts: true }, notify);
    return { [Symbol.asyncDispose]: async () => end() };
  }

  async evict(key: string, token: bigint): Promise<boolean> {
    const { client, prefix } = this.#etcd;
    const { claims } = await queueNow(client, queuePrefix(prefix, key));
    const found = claims.find((place) => place.token === token);
    if (!found) return false;
    return (await client.txn({ compare: [stillStands(found.name, token)], success: [remove(found.name)] })).succeeded;
  }

  check(): Promise<Finding[]> {
    return check(this.#etcd.client);
  }

  async close(): Promise<void> {
    await this.#own.close();
    this.#etcd.client.close();
  }
}

async function entries(client: Client, key: string, queue: ClaimEntry[]): Promise<QueueEntry[]> {
  queue.sort((a, b) => (a.token < b.token ? -1 : 1));
  const read = async (claim: ClaimEntry) => ({ ...claim, remaining: await remaining(client, claim.lease) });
  return entriesOf(key, await Promise.all(queue.map(read)));
}

/** @returns ms, rounded up to a second; 0 in the last second of a longer lease. A key of another program may have no lease, and stays for ever. */
async function remaining(client: Client, lease: bigint): Promise<number> {
  if (lease === 0n) return Number.POSITIVE_INFINITY;
  const { ttl, granted } = await client.call(TIME_TO_LIVE, { id: lease });
  // etcd rounds towards 0, so 0 may be of a lease that is over and not removed yet. Of a lease of one second etcd gives nothing else.
  return ttl < 0n || (ttl === 0n && granted > 1n) ? 0 : Math.min(Number(ttl) + 1, Number(granted)) * 1_000;
}

/** @returns the key of the lock whose queue has this name; undefined for a name that is in no queue: another program made it */
function keyOf(name: Buffer): string | undefined {
  const parts = name.toString().split('/');
  try {
    return parts.length === 3 ? decodeURIComponent(parts[1]!) : undefined;
  } catch {
    return undefined;
  }
}
