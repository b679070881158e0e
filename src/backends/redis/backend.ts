import type {
  Attempt,
  Backend,
  Claim,
  Finding,
  Grant,
  Handle,
  Listing,
  Notes,
  Release,
  Renewal,
  Standing,
  Traits,
} from '../../core/backend.ts';
import type { Clock } from '../../core/clock.ts';
import { LONGEST } from '../../core/duration.ts';
import { isLockError } from '../../core/errors.ts';
import { Acknowledged, isTooFew } from './acknowledged.ts';
import { findings } from './check.ts';
import { type Asker, CommandBatcher } from './command-batcher.ts';
import { Engine } from './engine.ts';
import { isReply, meaning } from './errors.ts';
import { Incarnation } from './incarnation.ts';
import { Listings } from './inspect.ts';
import { notesOf } from './notes.ts';
import { digits } from './layout.ts';
import { type RedisOptions, type ResolvedRedisOptions, resolveRedisOptions } from './options.ts';
import { type Port, portOf, type RedisClient } from './port.ts';
import { renewals } from './renewals.ts';
import { Rest } from './rest.ts';
import { ATTEMPT, EVICT, PASS, RELEASE, type Script } from './scripts.generated.ts';
import { refuseUnsupported } from './server-kind.ts';
import { type Request, Shards } from './shards.ts';
import { Mailbox } from './wake-ups.ts';
import { attemptArgs, failed, readAttempt, readFreed, releaseArgs } from './wire.ts';

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

/**
 * Claims in one command, attempted or released. In a long line, where each costs most, that blocks the server for two to three
 * milliseconds.
 */
const BATCH = 40;

/**
 * Locks on one Redis (6.2 or newer) or Valkey, on one behind sentinels, or on a Cluster, over the caller's connected ioredis
 * or node-redis client. One more connection is opened, like the client's, for the messages that say whose turn it is. The
 * client stays the caller's to close.
 * @throws LockError `LOCK_INVALID` when it is not such a client, or an option is malformed.
 */
export function redis(client: RedisClient, options: RedisOptions = {}): Backend {
  return new Redis(portOf(client), resolveRedisOptions(options));
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
  readonly notes: Notes;
  /** Where there is one server to name. */
  readonly incarnation?: Backend['incarnation'];
  readonly #port: Port;
  readonly #engine: Engine;
  readonly #shards: Shards;
  readonly #acknowledged: Acknowledged | undefined;
  readonly #clock: Clock;
  readonly #mailbox: Mailbox;
  readonly #listings: Listings;
  readonly #attempts: CommandBatcher<Request, unknown>;
  readonly #releases: CommandBatcher<Request, unknown>;
  readonly #incarnation: Incarnation;
  readonly #remember: number;
  #known: Promise<void> | undefined;
  readonly #rest: Rest;

  constructor(port: Port, { prefix, clock, remember, replicas }: ResolvedRedisOptions) {
    this.#port = port;
    this.#engine = new Engine(port);
    const shards = new Shards(port, this.#engine, prefix, clock);
    this.#shards = shards;
    this.notes = notesOf(this.#engine, prefix);
    this.#clock = clock;
    this.#remember = remember;
    const acknowledged = replicas && new Acknowledged(port, shards, replicas, clock);
    this.#acknowledged = acknowledged;
    const holders = acknowledged ?? shards;
    const { groupOf } = shards;
    this.#attempts = new CommandBatcher(BATCH, acknowledged ?? this.#engine, asker(holders, ATTEMPT), groupOf);
    this.#releases = new CommandBatcher(BATCH, this.#engine, asker(shards, RELEASE), groupOf);
    this.#listings = new Listings(port, this.#engine, shards, prefix);
    this.#rest = new Rest(shards, remember);
    this.#mailbox = new Mailbox(prefix, port, clock);
    this.#incarnation = new Incarnation(port, this.#engine);
    if (port.connected) this.incarnation = () => this.#incarnation.ask();
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const { key } = claim;
    try {
      const sent = this.#clock.now(); // before the time is learnt: who gave the claim up meanwhile has released it
      if (!this.#shards.clockOf(key).known) await this.#learnTime(claim);
      const asked = { key, args: this.#asking(claim, sent) };
      // The line may be too long for one script. Not beyond its time: who gave it up then has released it.
      while (this.#clock.now() < sent + claim.within) {
        const answer = this.#answer(await this.#attempts.ask(asked), claim, sent);
        if (answer) return answer;
      }
      return { granted: false, late: true };
    } catch (error) {
      if (isTooFew(error)) await this.release(claim);
      throw meaning(error, 'attempt', key);
    }
  }

  async release({ key, id }: Handle, next?: Claim): Promise<Release> {
    try {
      // Where replicas have to have a grant, the next claim asks for itself.
      const mine = releaseArgs(id, this.#remember);
      if (!next || this.#acknowledged) return this.#freed(key, await this.#releases.ask({ key, args: mine }));
      const sent = this.#clock.now();
      if (!this.#shards.clockOf(key).known) await this.#learnTime(next);
      const asked = { key, args: [...mine, ...this.#asking(next, sent)] };
      const [freed, reply] = (await this.#shards.askOne(PASS, asked)) as unknown[];
      // Released, but the next claim failed: it finds out why by asking for itself.
      return { ...this.#freed(key, freed), next: failed(reply) ? undefined : this.#answer(reply, next, sent) };
    } catch (error) {
      throw meaning(error, 'release', key);
    }
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return renewals(claims, this.#shards, this.#acknowledged ?? this.#shards, this.#remember);
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
      const asked = { key, args: [digits(ticket), place, `${this.#remember}`] };
      const reply = String(await this.#one('evict', EVICT, asked));
      if (!reply.startsWith('h')) return this.#freed(key, reply).freed;
      place = reply;
    }
  }

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
    return findings(this.#port.nodes(), trial, this.#acknowledged?.count ?? 0, this.#clock);
  }

  #freed(key: string, reply: unknown): { freed: boolean } {
    const { freed, more } = readFreed(reply);
    if (more) this.#rest.pass(key);
    return { freed };
  }

  async close(): Promise<void> {
    this.#rest.close();
    this.#mailbox.close();
    this.#acknowledged?.close();
    this.#incarnation.close();
  }

  /** An attempt that is too late at once changes nothing, and its refusal tells the time. */
  async #learnTime(claim: Claim): Promise<void> {
    // Of a Cluster any node would be asked, perhaps one that hangs; there scripts are told of all their keys, whatever server it is.
    if (!this.#port.cluster) await this.#knowServer();
    const sent = this.#clock.now();
    const reply = await this.#shards.askOne(ATTEMPT, {
      key: claim.key,
      args: attemptArgs(claim, '-', 0, this.#remember),
    });
    this.#answer(reply, claim, sent);
  }

  /** Once. Who may not ask is not refused. */
  #knowServer(): Promise<void> {
    this.#known ??= this.#engine.command('ask which server it is', 'INFO', [], 'server').then(
      (info) => refuseUnsupported(String(info)),
      (error: unknown) => {
        if (!isLockError(error)) this.#known = undefined; // not answered
      },
    );
    return this.#known;
  }

  #asking(claim: Claim, sent: number): string[] {
    const notAfter = Math.floor((this.#shards.clockOf(claim.key).in(claim.within, sent) ?? 0) * MICRO);
    return attemptArgs(claim, this.#mailbox.channel, notAfter, this.#remember);
  }

  /** The time is learnt for the server that has the key by now: it may have moved while it was asked for. */
  #answer(reply: unknown, claim: Claim, sent: number): Attempt | undefined {
    const { attempt, time } = readAttempt(reply, claim);
    this.#shards.clockOf(claim.key).learn(time / MICRO, sent);
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

/** µs in one ms: the unit of the scripts. */
const MICRO = 1_000;
