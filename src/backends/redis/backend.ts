import type {
  Attempt,
  Backend,
  Claim,
  Finding,
  Handle,
  Hints,
  Listing,
  NewValue,
  QueueEntry,
  Release,
  Renewal,
  Traits,
  Wake,
} from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';
import { LONGEST } from '../../core/contract/duration.ts';
import { LONGEST_WORDS } from '../shared/record.ts';
import { portOf, type RedisClient } from './client.ts';
import { type Asker, CommandBatcher } from './command-batcher.ts';
import { isReply, meaning } from './errors.ts';
import { evict } from './evict.ts';
import { Incarnation } from './incarnation.ts';
import type { Listings } from './inspect.ts';
import { notesOf } from './notes.ts';
import { type RedisOptions, type ResolvedRedisOptions, resolveRedisOptions } from './options.ts';
import type { Port } from './port.ts';
import { RemainingWork } from './remaining-work.ts';
import { renewals } from './renewals.ts';
import { isTooFew, ReplicatedServers } from './replicated-servers.ts';
import { freedBefore, Resends } from './resends.ts';
import { ATTEMPT, PASS, RELEASE, type Script } from './scripts.generated.ts';
import { type Request, Server, Shards } from './shards.ts';
import { WakeUps } from './wake-ups.ts';
import { attemptArgs, isFailure, readAttempt, readFreed, releaseArgs } from './wire.ts';
import { RedisWords } from './words.ts';

const TRAITS: Traits = {
  units: 'counted',
  fair: true,
  fencing: 'durable',
  tokenBlocks: true,
  wakes: 'mailbox',
  expires: true,
  lifetime: 'lease',
  renewedFrom: 'anywhere',
  values: { maxBytes: LONGEST_WORDS },
  ttl: { min: 10, max: LONGEST },
};

/**
 * The number of claims that one command attempts or releases. In a long line, where each costs most, that blocks the server for two to
 * three milliseconds.
 */
const BATCH = 40;

/**
 * Locks on one Redis (6.2 or newer) or Valkey, on one behind sentinels, or on a Cluster, over the caller's connected ioredis or node-redis
 * client. It opens one more connection like the client's, for the messages that say whose turn it is. The caller closes the client.
 * @throws LockError `LOCK_INVALID` when it is not such a client, or an option is malformed.
 * @example
 * import { Redis } from 'ioredis';
 * const locks = createLocks(redis(new Redis()));
 */
export function redis(client: RedisClient, options: RedisOptions = {}): Backend {
  return new Redis(portOf(client), resolveRedisOptions(options));
}

const asker = (servers: Shards | ReplicatedServers, script: Script): Asker<Request, unknown> => ({
  one: (request) => servers.askOne(script, request),
  many: (requests) =>
    servers.ask(script, requests).catch((error) => {
      // This user may not name one of the keys, and the server refuses the whole script. So each key is asked for alone.
      if (!isReply(error, 'NOPERM')) throw error;
      return Promise.all(
        requests.map((request) => servers.askOne(script, request).catch((why: Error) => `! ${why.message}`)),
      );
    }),
});

/** Tries out the rights of the user. */
async function tryOut(backend: Backend, wakeUps: WakeUps, id: string): Promise<void> {
  const claim: Claim = {
    ...{ key: `check:${id}`, id, units: 1, capacity: 1 },
    ...{ ttl: 1_000, queue: false, tokenCount: 1, within: 1_000, label: '' },
  };
  await backend.attempt(claim);
  await backend.release(claim);
  await wakeUps.listen(claim.key);
}

class Redis implements Backend {
  readonly name = 'redis';
  readonly traits: Traits;
  readonly hints: Hints;
  /** Undefined where replicas acknowledge a grant: nothing would wait until they have the words, too. */
  readonly values: RedisWords | undefined;
  /** Undefined where there is no single server to name. */
  readonly incarnation?: Backend['incarnation'];
  readonly #port: Port;
  readonly #shards: Shards;
  readonly #replicated: ReplicatedServers | undefined;
  readonly #clock: Clock;
  readonly #wakeUps: WakeUps;
  readonly #listings: () => Promise<Listings>;
  readonly #attemptBatcher: CommandBatcher<Request, unknown>;
  readonly #releaseBatcher: CommandBatcher<Request, unknown>;
  readonly #incarnation: Incarnation;
  readonly #remember: number;
  readonly #remaining: RemainingWork;
  readonly #resends: Resends;

  constructor(port: Port, { prefix, clock, remember, replicas }: ResolvedRedisOptions) {
    this.#port = port;
    this.#resends = new Resends(port);
    const server = new Server(port);
    const shards = new Shards(port, server, prefix, clock);
    this.#shards = shards;
    this.hints = notesOf(server, prefix);
    this.#clock = clock;
    this.#remember = remember;
    const replicated = replicas && new ReplicatedServers(port, shards, replicas, clock);
    this.#replicated = replicated;
    const holders = replicated ?? shards;
    this.#attemptBatcher = new CommandBatcher(BATCH, replicated ?? server, asker(holders, ATTEMPT), shards.groupOf);
    this.#releaseBatcher = new CommandBatcher(BATCH, server, asker(shards, RELEASE), shards.groupOf);
    this.#listings = async () => new (await import('./inspect.ts')).Listings(port, server, shards, prefix);
    this.#remaining = new RemainingWork(shards, remember);
    this.#wakeUps = new WakeUps(prefix, port, shards, clock);
    this.values = replicated ? undefined : new RedisWords(server, shards, this.#resends, remember, this.#listings);
    this.traits = replicated ? { ...TRAITS, values: undefined } : TRAITS;
    this.#incarnation = new Incarnation(port, server);
    if (port.onConnection) this.incarnation = () => this.#incarnation.ask();
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const { key, within } = claim;
    const sent = this.#clock.now();
    try {
      if (!this.#shards.clockOf(key).known) await this.#shards.learnTime(key);
      const request = { key, args: this.#attemptArgs(claim, sent) };
      // The line may be too long for one script. The loop ends with `within`: a caller that gave up then has released the claim.
      while (this.#clock.now() < sent + within) {
        const { attempt, time } =
          claim.accepts && this.values
            ? await this.values.ask(claim, claim.accepts, request.args)
            : readAttempt(await this.#attemptBatcher.ask(request), claim);
        this.#shards.clockOf(key).learn(time, sent); // this asks for the clock again, since the key may have moved to another server
        if (attempt) return attempt;
      }
      return { granted: false, late: true };
    } catch (error) {
      if (isTooFew(error)) await this.release(claim);
      throw meaning(error, 'attempt', key);
    }
  }

  async release({ key, id }: Handle, next?: Claim, leave?: NewValue): Promise<Release> {
    try {
      const args = releaseArgs(id, this.#remember);
      if (leave && this.values) {
        const { stored, reply } = await this.values.leave(key, args, leave);
        return { ...this.#releaseOf(key, reply), stored };
      }
      // If replicas must acknowledge a grant, the next claim asks by itself.
      const { count } = this.#resends;
      const answer =
        next && !this.#replicated
          ? await this.#pass(args, next)
          : this.#releaseOf(key, await this.#releaseBatcher.ask({ key, args }));
      return answer.freed || count === this.#resends.count ? answer : await freedBefore(this.#shards, key, answer);
    } catch (error) {
      throw meaning(error, 'release', key);
    }
  }

  /** Releases, and attempts the next claim, in one script. `next` is undefined if that attempt failed: the claim then asks for itself. */
  async #pass(release: readonly string[], next: Claim): Promise<Release> {
    const { key } = next;
    const sent = this.#clock.now();
    if (!this.#shards.clockOf(key).known) await this.#shards.learnTime(key);
    const request = { key, args: [...release, ...this.#attemptArgs(next, sent)] };
    const [released, reply] = (await this.#shards.askOne(PASS, request)) as unknown[];
    const freed = this.#releaseOf(key, released);
    if (isFailure(reply)) return freed;
    const { attempt, time } = readAttempt(reply, next);
    this.#shards.clockOf(key).learn(time, sent);
    return { ...freed, next: attempt };
  }

  /** @param sent when the attempt began, before the time was learnt: a caller that gave up since then has released the claim */
  #attemptArgs(claim: Claim, sent: number): string[] {
    const limit = this.#shards.clockOf(claim.key).in(claim.within, sent) ?? 0;
    return attemptArgs(claim, this.#wakeUps.channelOf(claim), limit, this.#remember);
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return renewals(claims, this.#shards, this.#replicated ?? this.#shards, this.#remember);
  }

  watch(claim: Claim, wake: Wake, age?: number): AsyncDisposable | Promise<AsyncDisposable> {
    // The primary may be the only server that knows the grant in a mail. So the claim asks, and the replicas acknowledge that.
    return this.#wakeUps.watch(claim, this.#replicated ? () => wake() : wake, age);
  }

  async *inspect(start: string, listing?: Listing): AsyncIterable<QueueEntry> {
    yield* (await this.#listings()).inspect(start, listing);
  }

  async evict(key: string, token: bigint): Promise<boolean> {
    return this.#releaseOf(key, await evict(this.#shards, this.#resends, key, token, this.#remember)).freed;
  }

  async check(): Promise<Finding[]> {
    const { aside, findings, ordinaryMessages } = await import('./check.ts'); // few programs call this
    const trial = (): Promise<void> => tryOut(this, this.#wakeUps, this.#clock.id());
    const count = this.#replicated?.count ?? 0;
    const found = await aside(this.#port, (nodes) => findings(nodes, trial, count, this.#clock));
    const why = this.#wakeUps.whyOrdinary;
    return why === undefined ? found : [...found, ordinaryMessages(why)];
  }

  #releaseOf(key: string, reply: unknown): { freed: boolean } {
    const { freed, more } = readFreed(reply);
    if (more) this.#remaining.finish(key);
    return { freed };
  }

  ended(): boolean {
    return this.#port.ended;
  }

  async close(): Promise<void> {
    this.#remaining.close();
    this.#wakeUps.close();
    this.#replicated?.close();
    this.#incarnation.close();
    this.#resends.close();
  }
}
