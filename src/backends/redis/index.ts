import type {
  Attempt,
  Backend,
  Claim,
  Finding,
  Grant,
  Handle,
  Notes,
  Release,
  Renewal,
  Standing,
  Traits,
} from '../../core/backend.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { LONGEST } from '../../core/duration.ts';
import { checkPrefix } from '../../core/key.ts';
import { findings } from './check.ts';
import { Engine } from './engine.ts';
import { EngineTime } from './engine-time.ts';
import { meaning } from './errors.ts';
import { keysOf, nameOf, noteOf, patternOf } from './keys.ts';
import { Mailbox } from './mailbox.ts';
import { type Port, portOf, type RedisClient } from './port.ts';
import { ATTEMPT, EVICT, INSPECT, PASS, RELEASE, RENEW, type Script } from './scripts.generated.ts';
import { Turn } from './turn.ts';
import { attemptArgs, digits, failed, readAttempt, readFreed, readRenewal, readStandings } from './wire.ts';

export type { RedisClient } from './port.ts';

const TRAITS: Traits = {
  seats: 'counted',
  fair: true,
  fencing: 'durable',
  spans: true,
  wakes: 'mailbox',
  lapses: true,
  ttl: { min: 10, max: LONGEST },
};

/** Claims in one command: attempted, released, renewed. It blocks the server for less than a millisecond. */
const BATCH = 100;

/** What one key is asked in a script that answers many. */
interface Request {
  readonly key: string;
  readonly args: readonly string[];
}

export interface RedisOptions {
  /** What all keys and channels begin with; default `holdfast`. */
  readonly prefix?: string;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

/**
 * Locks on one Redis (6.2 or newer) or Valkey, over the caller's connected ioredis or node-redis client. One more connection
 * is opened, like the client's, for the messages that say whose turn it is. The client stays the caller's to close.
 * @throws LockError `LOCK_INVALID` when it is not such a client, or the prefix is malformed.
 */
export function redis(client: RedisClient, options: RedisOptions = {}): Backend {
  return new Redis(portOf(client), checkPrefix(options.prefix ?? 'holdfast'), options.clock ?? systemClock);
}

class Redis implements Backend {
  readonly name = 'redis';
  readonly traits = TRAITS;
  readonly #port: Port;
  readonly #engine: Engine;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #mailbox: Mailbox;
  readonly #time = new EngineTime();
  readonly #attempts = new Turn<Request, unknown>(BATCH, (requests) => this.#ask(ATTEMPT, requests));
  readonly #releases = new Turn<Request, unknown>(BATCH, (requests) => this.#ask(RELEASE, requests));

  constructor(port: Port, prefix: string, clock: Clock) {
    this.#port = port;
    this.#engine = new Engine(port);
    this.#prefix = prefix;
    this.#clock = clock;
    this.#mailbox = new Mailbox(prefix, port, clock);
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const { key } = claim;
    try {
      if (!this.#time.known) await this.#askTime();
      const sent = this.#clock.now();
      const reply = await this.#attempts.ask({ key, args: this.#asking(claim, sent) });
      return this.#answer(reply, claim, sent);
    } catch (error) {
      throw meaning(error, 'attempt', key);
    }
  }

  async release({ key, id }: Handle, next?: Claim): Promise<Release> {
    try {
      if (!next) return { freed: readFreed(await this.#releases.ask({ key, args: [id] })) };
      if (!this.#time.known) await this.#askTime();
      const sent = this.#clock.now();
      const [freed, reply] = await this.#ask(PASS, [{ key, args: [id, ...this.#asking(next, sent)] }]);
      // Released, but the next claim failed: it finds out why by asking for itself.
      return { freed: readFreed(freed), next: failed(reply) ? undefined : this.#answer(reply, next, sent) };
    } catch (error) {
      throw meaning(error, 'release', key);
    }
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const batches: Promise<Renewal[]>[] = [];
    for (let i = 0; i < claims.length; i += BATCH) batches.push(this.#renew(claims.slice(i, i + BATCH)));
    return (await Promise.all(batches)).flat();
  }

  /** A batch that fails leaves its own holds unknown, not the others. */
  async #renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const requests = claims.map(({ key, id, ttl }) => ({ key, args: [id, `${Math.ceil(ttl)}`] }));
    const replies = await this.#ask(RENEW, requests).catch(() => []);
    return claims.map(({ ttl }, i) => readRenewal(replies[i], ttl));
  }

  watch(claim: Claim, wake: (grant?: Grant) => void): AsyncDisposable | Promise<AsyncDisposable> {
    return this.#mailbox.watch(claim, wake);
  }

  async *inspect(start: string): AsyncIterable<Standing> {
    const prefix = this.#port.keyPrefix + this.#prefix;
    const pattern = patternOf(prefix, start);
    const seen = new Set<string>(); // SCAN may give a key twice
    let cursor = '0';
    do {
      const reply = await this.#engine.command('inspect', 'SCAN', cursor, 'MATCH', pattern, 'COUNT', '500');
      const [next, keys] = reply as [string, string[]];
      for (const key of keys) {
        const name = nameOf(prefix, key);
        if (name === undefined || seen.has(name)) continue;
        seen.add(name);
        yield* readStandings(name, await this.#one('inspect', INSPECT, { key: name, args: [] }));
      }
      cursor = `${next}`;
    } while (cursor !== '0');
  }

  async evict(key: string, ticket: bigint): Promise<boolean> {
    return readFreed(await this.#one('evict', EVICT, { key, args: [digits(ticket)] }));
  }

  readonly notes: Notes = {
    read: async (name) => {
      const text = await this.#engine.command('read a note', 'GET', noteOf(this.#prefix, name));
      return text === null ? undefined : String(text);
    },
    write: async (name, text, ttl) => {
      const key = noteOf(this.#prefix, name);
      if (text === undefined) await this.#engine.command('forget a note', 'DEL', key);
      else await this.#engine.command('keep a note', 'SET', key, text, 'PX', `${Math.ceil(ttl)}`);
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
    return findings(this.#port, async () => {
      await this.attempt(claim);
      await this.release(claim);
      await this.#mailbox.listen();
    });
  }

  async close(): Promise<void> {
    this.#mailbox.close();
  }

  async #askTime(): Promise<void> {
    const sent = this.#clock.now();
    const [seconds, micros] = (await this.#engine.command('ask the time', 'TIME')) as [string, string];
    this.#time.learn(Number(seconds) * 1_000_000 + Number(micros), sent, this.#clock.now());
  }

  #asking(claim: Claim, sent: number): string[] {
    return attemptArgs(claim, this.#mailbox.channel, this.#time.after(claim.within, sent));
  }

  #answer(reply: unknown, claim: Claim, sent: number): Attempt {
    const { attempt, time } = readAttempt(reply, claim.ttl);
    this.#time.learn(time, sent, this.#clock.now());
    return attempt;
  }

  #ask(script: Script, requests: readonly Request[]): Promise<unknown[]> {
    const keys: string[] = [];
    const args: string[] = [];
    for (const request of requests) {
      keys.push(...keysOf(this.#prefix, request.key));
      args.push(...request.args);
    }
    return this.#engine.run(script, keys, args) as Promise<unknown[]>;
  }

  async #one<T>(act: string, script: Script, request: Request): Promise<T> {
    try {
      return (await this.#ask(script, [request])) as T;
    } catch (error) {
      throw meaning(error, act, request.key);
    }
  }
}
