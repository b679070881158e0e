import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Grant,
  type Handle,
  type Listing,
  LONGEST_PLACE_TTL,
  type Release,
  type Renewal,
  type Standing,
  type Traits,
} from '../../core/backend.ts';
import type { Clock } from '../../core/clock.ts';
import { LockError } from '../../core/errors.ts';
import { KeyedSerializer } from '../../core/keyed-serializer.ts';
import { watchLine } from './changes.ts';
import { check } from './check.ts';
import type { Client } from './client.ts';
import { Contenders } from './contenders.ts';
import { inspect } from './inspect.ts';
import { KnownContenders } from './known-contenders.ts';
import { Leases } from './leases.ts';
import { lineOf } from './line.ts';
import { Moves } from './moves.ts';
import { open } from './open.ts';
import { remove, stillStands } from './ops.ts';
import type { EtcdOptions } from './options.ts';
import { renew } from './renewals.ts';
import { Waiters } from './waiters.ts';
import { lineNow } from './waiting.ts';
import { Watches } from './wake-ups.ts';

const TRAITS: Traits = {
  seats: 'counted',
  fair: true,
  fencing: 'always',
  spans: false,
  wakes: 'watch',
  lapses: true,
  // Of its own: one is used again only when what was under it is surely deleted.
  keptBy: 'lease',
  placeTtl: LONGEST_PLACE_TTL,
  // In whole seconds. The server raises what is below one and a half of its election timeouts.
  ttl: { min: 1_000, max: 9_000_000_000_000 },
};

/** etcd takes 128 operations in a transaction unless told otherwise (`--max-txn-ops`). */
const BATCH = 128;
/** Batches of large renewals under way at a time: of ten thousand at once hardly one would be answered before its time is up. */
const LANES = 8;

/**
 * Locks on an etcd cluster, 3.4 or later, over a connection of its own that `close` ends.
 * @throws LockError `LOCK_INVALID` for a bad option. Nothing is sent before the first lock is asked for.
 * @example const locks = createLocks(etcd({ endpoints: ['10.0.0.1:2379', '10.0.0.2:2379', '10.0.0.3:2379'] }));
 */
export function etcd(options: EtcdOptions): Backend {
  const { client, prefix, timeout, clock } = open(options);
  return new Etcd(client, prefix, timeout, clock);
}

export class Etcd implements Backend {
  readonly name = 'etcd';
  readonly traits = TRAITS;
  readonly #client: Client;
  readonly #leases: Leases;
  readonly #moves: Moves;
  readonly #watches: Watches;
  readonly #waiters: Waiters;
  readonly #known: KnownContenders;
  readonly #contenders: Contenders;
  readonly #attempts = new KeyedSerializer();
  readonly #renewals = new KeyedSerializer<number>();
  #lane = 0;
  readonly #prefix: string;
  readonly #timeout: number;
  readonly #clock: Clock;

  constructor(client: Client, prefix: string, timeout: number, clock: Clock) {
    this.#client = client;
    this.#leases = new Leases(client, clock);
    this.#watches = new Watches(client);
    this.#moves = new Moves(client, this.#leases);
    this.#waiters = new Waiters(client, this.#moves, this.#watches, clock);
    this.#known = new KnownContenders(this.#leases, this.#waiters, prefix, clock);
    this.#contenders = new Contenders(client, this.#leases, this.#moves, this.#known, this.#waiters, clock);
    this.#prefix = prefix;
    this.#timeout = timeout;
    this.#clock = clock;
  }

  async attempt(claim: Claim): Promise<Attempt> {
    if (claim.atLeast !== undefined) {
      const message =
        'etcd numbers its own grants: a quorum cannot propose tickets to it, and one cluster is a quorum already';
      throw new LockError('LOCK_UNSUPPORTED', message, { key: claim.key, backend: this.name });
    }
    try {
      const sent = this.#clock.now();
      const ms = Math.min(this.#timeout, claim.within);
      return await this.#attempts.take(claim.id, () => this.#contenders.attempt(claim, sent, ms));
    } catch (error) {
      // A definite refusal leaves nothing, even where it came after the first step.
      if (error instanceof LockError) await this.release(claim).catch(() => undefined);
      throw error;
    }
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const sent = this.#clock.now();
    // So that there is time for another call, to another member, before the hold lapses.
    const ms = Math.min(this.#timeout, ...claims.map(({ ttl }) => ttl / 3));
    const batches: Promise<Renewal[]>[] = [];
    for (let at = 0; at < claims.length; at += BATCH) {
      const batch = claims.slice(at, at + BATCH);
      const work = () => this.#renew(batch, sent, ms);
      const unknown = (): Renewal[] => batch.map(() => 'unknown');
      this.#lane = (this.#lane + 1) % LANES;
      batches.push(claims.length > BATCH ? this.#renewals.take(this.#lane, work).catch(unknown) : work());
    }
    const renewals = (await Promise.all(batches)).flat();
    for (const [index, { id }] of claims.entries()) if (renewals[index] === 'gone') this.#known.forget(id);
    return renewals;
  }

  async #renew(batch: readonly Claim[], sent: number, ms: number): Promise<Renewal[]> {
    if (this.#clock.now() - sent >= ms) return batch.map(() => 'unknown'); // nobody waits for it any more
    const holds = batch.map((claim) => [claim, this.#known.standing(claim.id)] as const);
    return renew(this.#client, this.#moves, holds, sent, ms);
  }

  release(handle: Handle, next?: Claim): Promise<Release> {
    return this.#contenders.release(handle, next, this.#timeout);
  }

  watch(claim: Claim, wake: (grant?: Grant) => void): Promise<AsyncDisposable> {
    return this.#waiters.watch(claim, this.#known.get(claim.id), wake);
  }

  inspect(prefix: string, { exact = false }: Listing = {}): AsyncIterable<Standing> {
    return inspect(this.#client, this.#prefix, prefix, exact);
  }

  changed(key: string, tell: () => void): Promise<AsyncDisposable> {
    return watchLine(this.#client, this.#watches, lineOf(this.#prefix, key), tell);
  }

  async evict(key: string, ticket: bigint): Promise<boolean> {
    const { places } = await lineNow(this.#client, lineOf(this.#prefix, key));
    const found = places.find((place) => place.ticket === ticket);
    if (!found) return false;
    const { name } = found;
    return (await this.#client.txn({ compare: [stillStands(name, ticket)], success: [remove(name)] })).succeeded;
  }

  check(): Promise<Finding[]> {
    return check(this.#client);
  }

  async close(): Promise<void> {
    await this.#watches.close();
    await this.#leases.close(this.#timeout);
    this.#client.close();
  }
}
