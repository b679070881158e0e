import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Handle,
  type Hints,
  type Listing,
  MAX_DURATION_MS,
  type NewValue,
  type QueueEntry,
  type Release,
  type Renewal,
  type Traits,
  type Wake,
} from '../../core/index.ts';
import { QUEUE_TRAITS } from '../shared/traits.ts';
import { portOf, type RedisClient } from './client.ts';
import { CommandBatcher } from './command-batcher.ts';
import { meaning } from './errors.ts';
import type { Listings } from './inspect.ts';
import { type RedisOptions, type ResolvedRedisOptions, resolveRedisOptions } from './options.ts';
import type { Port } from './port.ts';
import { Releases } from './releases.ts';
import { renewals } from './renewals.ts';
import { isTooFew, oneByOne, ReplicatedServers } from './replicated-servers.ts';
import { ATTEMPT, PASS, RELEASE, RENEW } from './scripts.generated.ts';
import { Shards } from './server.ts';
import { Incarnation } from './server-info.ts';
import { hintsOf, RedisValues } from './values.ts';
import { WakeUps } from './wake-ups.ts';
import { attemptArgs, isFailure, readAttempt, readFreed, releaseArgs, renewArgs } from './wire.ts';

const { placeTtl: _, ...QUEUE } = QUEUE_TRAITS;
const TRAITS: Traits = { ...QUEUE, wakes: 'buffered', ttl: { min: 10, max: MAX_DURATION_MS } };

/** The most claims that one command attempts or releases. In long queues, where a claim costs most, this many block the server for two or three milliseconds. */
const MAX_BATCH = 40;

/**
 * Locks on one Redis (6.2 or newer) or Valkey, also behind sentinels, or on a Cluster, over the caller's connected client. The backend opens one more
 * connection like the client's, to notify waiting claims. The caller closes the client.
 * @throws LockError `LOCK_INVALID` when the client is of no known kind, or an option is malformed.
 * @example
 * import { Redis } from 'ioredis';
 * const locks = createLocks(redis(new Redis()));
 */
export function redis(client: RedisClient, options: RedisOptions = {}): Backend {
  return new Redis(portOf(client), resolveRedisOptions(options));
}

class Redis implements Backend {
  readonly name = 'redis';
  readonly traits: Traits;
  readonly hints: Hints;
  /** Undefined if replicas must acknowledge grants: no call would wait until the replicas have a value. */
  readonly values: RedisValues | undefined;
  /** Undefined if the client reports no new connections to one server, as in a Cluster. */
  readonly incarnation?: Backend['incarnation'];
  readonly #shards: Shards;
  readonly #replicated: ReplicatedServers | undefined;
  readonly #wakeUps: WakeUps;
  readonly #listings: () => Promise<Listings>;
  readonly #attempts: CommandBatcher;
  readonly #released: CommandBatcher;
  readonly #releases: Releases;
  readonly #incarnation: Incarnation;

  constructor(port: Port, { replicas, ...options }: ResolvedRedisOptions) {
    const shards = new Shards(port, options);
    this.#shards = shards;
    this.hints = hintsOf(shards);
    const replicated = replicas && new ReplicatedServers(shards, replicas);
    this.#replicated = replicated;
    const holders = replicated ?? shards;
    this.#attempts = new CommandBatcher(MAX_BATCH, holders, ATTEMPT, shards.groupOf);
    this.#released = new CommandBatcher(MAX_BATCH, shards, RELEASE, shards.groupOf);
    this.#releases = new Releases(shards);
    this.#listings = async () => new (await import('./inspect.ts')).Listings(shards);
    this.#wakeUps = new WakeUps(shards);
    this.values = replicated ? undefined : new RedisValues(shards, this.#listings);
    this.traits = replicated ? { ...TRAITS, values: undefined } : TRAITS;
    this.#incarnation = new Incarnation(shards);
    if (replicated) this.attempt = oneByOne(shards.clock, this.attempt.bind(this));
    if (port.onConnection) this.incarnation = () => this.#incarnation.ask();
  }

  async attempt(claim: Claim, sent: number = this.#shards.clock.now()): Promise<Attempt> {
    const { key, within } = claim;
    try {
      const limit = this.#shards.clocks.of(key).in(within, sent) ?? (await this.#shards.learnLimit(claim, sent));
      const args = attemptArgs(claim, this.#wakeUps.channelOf(claim), limit, this.#shards.remember);
      // One script skips only some of the dead claims in a queue, so the claim asks again until `within` is over. Then the caller gives up and releases it.
      do {
        const { attempt, time } =
          claim.accepts && this.values
            ? await this.values.ask(claim, claim.accepts, args)
            : readAttempt(await this.#attempts.ask({ key, args }), claim);
        this.#shards.clocks.of(key).learn(time, sent); // the key may have moved to a server with another clock
        if (attempt) return attempt;
      } while (this.#shards.clock.now() < sent + within);
      return { granted: false, late: true };
    } catch (error) {
      if (isTooFew(error)) await this.release(claim);
      throw meaning(error, 'attempt', key);
    }
  }

  async release({ key, id }: Handle, next?: Claim): Promise<Release> {
    try {
      const args = releaseArgs(id, this.#shards.remember);
      const { resends } = this.#shards;
      // If replicas must acknowledge a grant, the next claim asks by itself.
      const passes = next && !next.accepts && !this.#replicated;
      const { reply, ...others } = passes
        ? await this.#pass(args, next)
        : { reply: await this.#released.ask({ key, args }) };
      const { freed, more } = readFreed(reply);
      if (more) this.#releases.finish(key);
      if (freed || resends === this.#shards.resends) return { ...others, freed };
      return { ...others, freed: await this.#releases.freedBefore(key) };
    } catch (error) {
      throw meaning(error, 'release', key);
    }
  }

  async store({ key, id }: Handle, value: NewValue): Promise<boolean> {
    try {
      const { stored, reply } = await this.values!.store(key, releaseArgs(id, this.#shards.remember), value);
      if (readFreed(reply).more) this.#releases.finish(key);
      return stored;
    } catch (error) {
      throw meaning(error, 'release', key);
    }
  }

  /** Releases a claim and attempts the next one, in one script. If the attempt fails, `next` is left out, and that claim asks by itself. */
  async #pass(
    release: readonly string[],
    next: Claim,
  ): Promise<{ readonly reply: unknown; readonly next?: Attempt | undefined }> {
    const { key, within } = next;
    const sent = this.#shards.clock.now();
    const limit = this.#shards.clocks.of(key).in(within, sent) ?? (await this.#shards.learnLimit(next, sent));
    const args = attemptArgs(next, this.#wakeUps.channelOf(next), limit, this.#shards.remember);
    const replies = await this.#shards.askOne(PASS, { key, args: [...release, ...args] });
    const [reply, passed] = replies as unknown[];
    if (isFailure(passed)) return { reply };
    const { attempt, time } = readAttempt(passed, next);
    this.#shards.clocks.of(key).learn(time, sent);
    return { reply, next: attempt };
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const { remember } = this.#shards;
    return renewals(claims, this.#shards, (batch) => {
      const requests = batch.map((claim) => ({ key: claim.key, args: renewArgs(claim, remember) }));
      return (this.#replicated ?? this.#shards).ask(RENEW, requests);
    });
  }

  watch(claim: Claim, wake: Wake, age?: number): AsyncDisposable | Promise<AsyncDisposable> {
    // Perhaps only the primary knows a grant that a message brings. So the claim asks, and the replicas acknowledge the answer.
    return this.#wakeUps.watch(claim, this.#replicated ? () => wake() : wake, age);
  }

  watchHold(claim: Claim, wake: Wake, age: number): AsyncDisposable | Promise<AsyncDisposable> {
    return this.#wakeUps.watch(claim, wake, age);
  }

  async *inspect(start: string, listing?: Listing): AsyncIterable<QueueEntry> {
    yield* (await this.#listings()).inspect(start, listing);
  }

  evict(key: string, token: bigint): Promise<boolean> {
    return this.#releases.evict(key, token);
  }

  async check(): Promise<Finding[]> {
    const { check, ordinaryMessages } = await import('./check.ts'); // few programs call this
    const found = await check(this, this.#shards, ({ key }) => this.#wakeUps.listen(key), this.#replicated?.count);
    const why = this.#wakeUps.whyOrdinary;
    return why === undefined ? found : [...found, ordinaryMessages(why)];
  }

  ended(): boolean {
    return this.#shards.port.ended;
  }

  async close(): Promise<void> {
    this.#releases.close();
    this.#wakeUps.close();
    this.#replicated?.close();
    this.#incarnation.close();
    this.#shards.close();
  }
}
