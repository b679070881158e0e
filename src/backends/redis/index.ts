import type {
  Attempt,
  Backend,
  Claim,
  Finding,
  Grant,
  Handle,
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
import { keysOf, nameOf, patternOf } from './keys.ts';
import { Mailbox } from './mailbox.ts';
import { type Port, portOf, type RedisClient } from './port.ts';
import { ATTEMPT, EVICT, INSPECT, RELEASE, RENEW, type Script } from './scripts.generated.ts';
import { attemptArgs, digits, readAttempt, readRenewals, readStandings } from './wire.ts';

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

/** Holds renewed by one script. It blocks the server for less than a millisecond. */
const BATCH = 200;

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

  constructor(port: Port, prefix: string, clock: Clock) {
    this.#port = port;
    this.#engine = new Engine(port);
    this.#prefix = prefix;
    this.#clock = clock;
    this.#mailbox = new Mailbox(prefix, port, clock);
  }

  attempt(claim: Claim): Promise<Attempt> {
    if (!this.#time.known) return this.#askTime().then(() => this.attempt(claim));
    const sent = this.#clock.now();
    const read = (reply: unknown): Attempt => this.#answer(reply as string, claim, sent);
    return this.#run(ATTEMPT, claim.key, this.#asking(claim, sent), read);
  }

  release(handle: Handle, next?: Claim): Promise<Release> {
    const { key, id } = handle;
    if (!next) return this.#run(RELEASE, key, [id], (reply) => ({ freed: Number(reply) === 1 }));
    if (!this.#time.known) return this.#askTime().then(() => this.release(handle, next));
    const sent = this.#clock.now();
    return this.#run(RELEASE, key, [id, ...this.#asking(next, sent)], (reply) => {
      const text = reply as string;
      return { freed: text[0] === '1', next: this.#answer(text.slice(2), next, sent) };
    });
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const batches: Promise<Renewal[]>[] = [];
    for (let i = 0; i < claims.length; i += BATCH) batches.push(this.#renew(claims.slice(i, i + BATCH)));
    return (await Promise.all(batches)).flat();
  }

  /** A batch that fails leaves its own holds unknown, not the others. */
  #renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const keys = claims.flatMap(({ key }) => keysOf(this.#prefix, key));
    const args = claims.flatMap(({ id, ttl }) => [id, `${Math.ceil(ttl)}`]);
    const read = (reply: unknown): Renewal[] => readRenewals(reply as number[], claims);
    return this.#engine.run(RENEW, keys, args, read).catch(() => claims.map(() => 'unknown'));
  }

  watch(claim: Claim, wake: (grant?: Grant) => void): AsyncDisposable | Promise<AsyncDisposable> {
    return this.#mailbox.watch(claim, wake);
  }

  async *inspect(start: string): AsyncIterable<Standing> {
    const pattern = patternOf(this.#prefix, start);
    const seen = new Set<string>(); // SCAN may give a key twice
    let cursor = '0';
    do {
      const reply = await this.#engine.command('inspect', 'SCAN', cursor, 'MATCH', pattern, 'COUNT', '500');
      const [next, keys] = reply as [string, string[]];
      for (const key of keys) {
        const name = nameOf(this.#prefix, key);
        if (name === undefined || seen.has(name)) continue;
        seen.add(name);
        yield* await this.#run(INSPECT, name, [], (rows) => readStandings(name, rows as string[]));
      }
      cursor = `${next}`;
    } while (cursor !== '0');
  }

  evict(key: string, ticket: bigint): Promise<boolean> {
    return this.#run(EVICT, key, [digits(ticket)], (reply) => Number(reply) === 1);
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

  #answer(reply: string, claim: Claim, sent: number): Attempt {
    const { attempt, time } = readAttempt(reply, claim.ttl);
    this.#time.learn(time, sent, this.#clock.now());
    return attempt;
  }

  #run<T>(script: Script, key: string, args: string[], read: (reply: unknown) => T): Promise<T> {
    return this.#engine.run(script, keysOf(this.#prefix, key), args, read, key);
  }
}
