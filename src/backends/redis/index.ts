import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Grant,
  type Handle,
  type Listing,
  type Notes,
  PLACE_TTL,
  type Release,
  type Renewal,
  type Standing,
  type Traits,
} from '../../core/backend.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { type Duration, LONGEST, milliseconds } from '../../core/duration.ts';
import { invalid } from '../../core/errors.ts';
import { checkPrefix } from '../../core/key.ts';
import { checkNames } from '../../core/options.ts';
import { Acknowledged, type Acknowledgement, isTooFew } from './acknowledged.ts';
import { findings } from './check.ts';
import { Engine } from './engine.ts';
import { isReply, meaning } from './errors.ts';
import { Incarnation } from './incarnation.ts';
import { noteOf } from './keys.ts';
import { Listings } from './listing.ts';
import { Mailbox } from './mailbox.ts';
import { type Port, portOf, type RedisClient } from './port.ts';
import { ATTEMPT, EVICT, PASS, RELEASE, RENEW, type Script } from './scripts.generated.ts';
import { type Request, Shards } from './shards.ts';
import { type Asker, parts, Turn } from './turn.ts';
import { attemptArgs, digits, failed, readAttempt, readFreed, readRenewal } from './wire.ts';

export type { RedisClient } from './port.ts';

const TRAITS: Traits = {
  seats: 'counted',
  fair: true,
  fencing: 'durable',
  spans: true,
  wakes: 'mailbox',
  lapses: true,
  keptBy: 'lease',
  ttl: { min: 10, max: LONGEST },
};

/** Claims in one command, attempted or released, and renewed, which costs less. It blocks the server for about a millisecond. */
const BATCH = 100;
const RENEWALS = 250;

const KNOWN = new Set(['prefix', 'replicas', 'clock']);
const KNOWN_REPLICAS = new Set(['acknowledge', 'within']);

export interface RedisOptions {
  /** What all keys and channels begin with; default `holdfast`. */
  readonly prefix?: string;
  /** Wait for replicas: a grant is shown, and a renewal counts, only when they have it. By default nobody waits for them. */
  readonly replicas?: {
    /** How many must have it: 1 to 100. */
    readonly acknowledge: number;
    /** How long they have for it: 1 ms to 1 s; default 50 ms. */
    readonly within?: Duration;
  };
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

/**
 * Locks on one Redis (6.2 or newer) or Valkey, on one behind sentinels, or on a Cluster, over the caller's connected ioredis
 * or node-redis client. One more connection is opened, like the client's, for the messages that say whose turn it is. The
 * client stays the caller's to close.
 * @throws LockError `LOCK_INVALID` when it is not such a client, or an option is malformed.
 */
export function redis(client: RedisClient, options: RedisOptions = {}): Backend {
  checkNames(options, KNOWN, 'options of redis()');
  const port = portOf(client);
  return new Redis(
    port,
    checkPrefix(options.prefix ?? 'holdfast'),
    options.clock ?? systemClock,
    wanted(options.replicas),
  );
}

function wanted(replicas: RedisOptions['replicas']): Acknowledgement | undefined {
  if (!replicas) return undefined;
  checkNames(replicas, KNOWN_REPLICAS, 'options of replicas');
  const { acknowledge, within } = replicas;
  if (!Number.isInteger(acknowledge) || acknowledge < 1 || acknowledge > 100) {
    throw invalid(`replicas.acknowledge is ${acknowledge}; it must be a whole number from 1 to 100`);
  }
  // To the server 0 would be for ever.
  return {
    count: acknowledge,
    within: Math.ceil(milliseconds(within ?? 50, 'replicas.within', { min: 1, max: 1_000 })),
  };
}

const asker = (servers: Shards | Acknowledged, script: Script): Asker<Request, unknown> => ({
  one: (asked) => servers.askOne(script, asked),
  many: (asked) =>
    servers.ask(script, asked).catch((error) => {
      // One key that this user may not name, and the server does not look at the others: each answers for itself.
      if (!isReply(error, 'NOPERM')) throw error;
      return Promise.all(asked.map((one) => servers.askOne(script, one).catch((why: Error) => `! ${why.message}`)));
    }),
});

class Redis implements Backend {
  readonly name = 'redis';
  readonly traits = TRAITS;
  /** Where there is one server to name. */
  readonly incarnation?: Backend['incarnation'];
  readonly #port: Port;
  readonly #engine: Engine;
  readonly #shards: Shards;
  readonly #acknowledged: Acknowledged | undefined;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #mailbox: Mailbox;
  readonly #listings: Listings;
  readonly #attempts: Turn<Request, unknown>;
  readonly #releases: Turn<Request, unknown>;
  readonly #incarnation: Incarnation;

  constructor(port: Port, prefix: string, clock: Clock, replicas?: Acknowledgement) {
    this.#port = port;
    this.#engine = new Engine(port);
    const shards = new Shards(port, this.#engine, prefix, clock);
    this.#shards = shards;
    this.#prefix = prefix;
    this.#clock = clock;
    const acknowledged = replicas && new Acknowledged(port, shards, replicas, clock);
    this.#acknowledged = acknowledged;
    const holders = acknowledged ?? shards;
    const { groupOf } = shards;
    this.#attempts = new Turn(BATCH, acknowledged ?? this.#engine, asker(holders, ATTEMPT), groupOf);
    this.#releases = new Turn(BATCH, this.#engine, asker(shards, RELEASE), groupOf);
    this.#listings = new Listings(port, this.#engine, shards, prefix);
    this.#mailbox = new Mailbox(prefix, port, clock);
    this.#incarnation = new Incarnation(port, this.#engine);
    if (port.connected) this.incarnation = () => this.#incarnation.ask();
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const { key } = claim;
    try {
      const sent = this.#clock.now(); // before the time is learnt: who gave the claim up meanwhile has released it
      if (!this.#shards.timeOf(key).known) await this.#learnTime(claim);
      const reply = await this.#attempts.ask({ key, args: this.#asking(claim, sent) });
      return this.#answer(reply, claim, sent);
    } catch (error) {
      if (isTooFew(error)) await this.release(claim);
      throw meaning(error, 'attempt', key);
    }
  }

  async release({ key, id }: Handle, next?: Claim): Promise<Release> {
    try {
      // Where replicas have to have a grant, the next claim asks for itself.
      if (!next || this.#acknowledged) return { freed: readFreed(await this.#releases.ask({ key, args: [id] })) };
      const sent = this.#clock.now();
      if (!this.#shards.timeOf(key).known) await this.#learnTime(next);
      const asked = { key, args: [id, ...this.#asking(next, sent)] };
      const [freed, reply] = (await this.#shards.askOne(PASS, asked)) as unknown[];
      // Released, but the next claim failed: it finds out why by asking for itself.
      return { freed: readFreed(freed), next: failed(reply) ? undefined : this.#answer(reply, next, sent) };
    } catch (error) {
      throw meaning(error, 'release', key);
    }
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const renewals = new Map<Claim, Renewal>();
    const renew = async (batch: readonly Claim[]): Promise<void> => {
      const requests = batch.map(({ key, id, ttl }) => ({ key, args: [id, `${Math.ceil(ttl)}`] }));
      // A batch that fails leaves its own holds unknown, not the others.
      const asked = (this.#acknowledged ?? this.#shards).ask(RENEW, requests);
      const replies = await this.#shards.within(patienceOf(claims), asked).catch(() => []);
      for (const [i, claim] of batch.entries()) renewals.set(claim, readRenewal(replies[i], claim.ttl));
    };
    await Promise.all(parts([...claims], RENEWALS, this.#shards.groupOf).map(renew));
    return claims.map((claim) => renewals.get(claim)!);
  }

  watch(claim: Claim, wake: (grant?: Grant) => void): AsyncDisposable | Promise<AsyncDisposable> {
    // What a mail tells, only the primary may know: the claim asks, and that is acknowledged.
    return this.#mailbox.watch(claim, this.#acknowledged ? () => wake() : wake);
  }

  inspect(start: string, listing?: Listing): AsyncIterable<Standing> {
    return this.#listings.inspect(start, listing);
  }

  async evict(key: string, ticket: bigint): Promise<boolean> {
    for (let place = ''; ; ) {
      const reply = String(await this.#one('evict', EVICT, { key, args: [digits(ticket), place] }));
      if (!reply.startsWith('h')) return reply === '1';
      place = reply;
    }
  }

  readonly notes: Notes = {
    read: async (name) => {
      const text = await this.#engine.command('read a note', 'GET', [noteOf(this.#prefix, name)]);
      return text === null ? undefined : String(text);
    },
    write: async (name, text, ttl) => {
      const key = noteOf(this.#prefix, name);
      if (text === undefined) await this.#engine.command('forget a note', 'DEL', [key]);
      else await this.#engine.command('keep a note', 'SET', [key], text, 'PX', `${Math.ceil(ttl)}`);
    },
  };

  check(): Promise<Finding[]> {
    const id = this.#clock.id();
    const claim = {
      key: `check:${id}`,
      id,
      take: 1,
      of: 1,
      ttl: 1_000,
      queue: false,
      span: 1,
      within: 1_000,
      label: '',
    };
    const trial = async (): Promise<void> => {
      await this.attempt(claim);
      await this.release(claim);
      await this.#mailbox.listen();
    };
    return findings(this.#port.nodes(), trial, this.#acknowledged?.count ?? 0);
  }

  async close(): Promise<void> {
    this.#mailbox.close();
    this.#acknowledged?.close();
    this.#incarnation.close();
  }

  /** An attempt that is too late at once changes nothing, and its refusal tells the time. */
  async #learnTime(claim: Claim): Promise<void> {
    const sent = this.#clock.now();
    const reply = await this.#shards.askOne(ATTEMPT, { key: claim.key, args: attemptArgs(claim, '-', 0) });
    this.#answer(reply, claim, sent);
  }

  #asking(claim: Claim, sent: number): string[] {
    return attemptArgs(claim, this.#mailbox.channel, this.#shards.timeOf(claim.key).after(claim.within, sent));
  }

  /** Learnt for the server that has the key by now: it may have moved while it was asked for. */
  #answer(reply: unknown, claim: Claim, sent: number): Attempt {
    const { attempt, time } = readAttempt(reply, claim);
    this.#shards.timeOf(claim.key).learn(time, sent, this.#clock.now());
    return attempt;
  }

  async #one(act: string, script: Script, request: Request): Promise<unknown> {
    try {
      return await this.#shards.askOne(script, request);
    } catch (error) {
      throw meaning(error, act, request.key);
    }
  }
}

/** How long a node may take over a batch of renewals, ms: less than core gives all of them, a third of what they were good for. */
const patienceOf = (claims: readonly Claim[]): number => Math.min(PLACE_TTL, ...claims.map(({ ttl }) => ttl)) / 4;
