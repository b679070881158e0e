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
import { EngineTime } from './engine-time.ts';
import { ended, meaning } from './errors.ts';
import { keysOf, nameOf, patternOf } from './keys.ts';
import { Mailbox } from './mailbox.ts';
import { type Port, portOf, type RedisClient } from './port.ts';
import { ATTEMPT, EVICT, INSPECT, RELEASE, RENEW, type Script } from './scripts.generated.ts';
import { attemptArgs, readAttempt, readStandings } from './wire.ts';

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
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #mailbox: Mailbox;
  readonly #time = new EngineTime();

  constructor(port: Port, prefix: string, clock: Clock) {
    this.#port = port;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#mailbox = new Mailbox(prefix, port, clock);
  }

  async attempt(claim: Claim): Promise<Attempt> {
    if (!this.#time.known) await this.#askTime();
    const sent = this.#clock.now();
    const reply = await this.#run(ATTEMPT, claim.key, this.#asking(claim, sent));
    return this.#answer(reply as number[], claim, sent);
  }

  async release({ key, id }: Handle, next?: Claim): Promise<Release> {
    if (next && !this.#time.known) await this.#askTime();
    const sent = this.#clock.now();
    const args = next ? [id, ...this.#asking(next, sent)] : [id];
    const [freed, ...reply] = (await this.#run(RELEASE, key, args)) as number[];
    return { freed: Number(freed) === 1, next: next && this.#answer(reply, next, sent) };
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const batches: Promise<Renewal[]>[] = [];
    for (let i = 0; i < claims.length; i += BATCH) batches.push(this.#renew(claims.slice(i, i + BATCH)));
    const answers = await Promise.all(batches);
    return answers.flat();
  }

  /** A batch that fails leaves its own holds unknown, not the others. */
  async #renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const keys = claims.flatMap(({ key }) => keysOf(this.#prefix, key));
    const args = claims.flatMap(({ id, ttl }) => [id, `${Math.ceil(ttl)}`]);
    try {
      const replies = (await this.#port.run(RENEW, keys, args)) as number[];
      return claims.map(({ ttl }, i) => {
        const renewed = Number(replies[i]);
        return renewed === 1 ? { validFor: ttl } : renewed === 0 ? 'gone' : 'unknown';
      });
    } catch {
      return claims.map(() => 'unknown');
    }
  }

  watch(claim: Claim, wake: (grant?: Grant) => void): AsyncDisposable | Promise<AsyncDisposable> {
    return this.#mailbox.watch(claim, wake);
  }

  async *inspect(prefix: string): AsyncIterable<Standing> {
    const seen = new Set<string>(); // SCAN may give a key twice
    let cursor = '0';
    do {
      const what = 'list locks';
      const pattern = patternOf(this.#prefix, prefix);
      const reply = await this.#sent(what, () => this.#port.command('SCAN', cursor, 'MATCH', pattern, 'COUNT', '500'));
      const [next, keys] = reply as [string, string[]];
      for (const key of keys) {
        const name = nameOf(this.#prefix, key);
        if (name === undefined || seen.has(name)) continue;
        seen.add(name);
        yield* readStandings(name, (await this.#run(INSPECT, name, [])) as string[]);
      }
      cursor = String(next);
    } while (cursor !== '0');
  }

  async evict(key: string, ticket: bigint): Promise<boolean> {
    return Number(await this.#run(EVICT, key, [`${ticket}`])) === 1;
  }

  check(): Promise<Finding[]> {
    const claim = {
      id: this.#clock.id(),
      take: 1,
      of: 1,
      ttl: 1_000,
      queue: false,
      span: 1,
      within: 1_000,
      label: 'check',
    };
    return findings(this.#port, async () => {
      const trial = { ...claim, key: `check:${claim.id}` };
      await this.attempt(trial);
      await this.release(trial);
      await this.#mailbox.listen();
    });
  }

  async close(): Promise<void> {
    this.#mailbox.close();
  }

  async #askTime(): Promise<void> {
    const sent = this.#clock.now();
    const reply = await this.#sent('tell the time', () => this.#port.command('TIME'));
    const [seconds, micros] = reply as [string, string];
    this.#time.learn(Number(seconds) * 1_000_000 + Number(micros), sent, this.#clock.now());
  }

  #asking(claim: Claim, sent: number): string[] {
    return attemptArgs(claim, this.#mailbox.channel, this.#time.after(claim.within, sent));
  }

  #answer(reply: number[], claim: Claim, sent: number): Attempt {
    const { attempt, time } = readAttempt(reply, claim.ttl);
    this.#time.learn(time, sent, this.#clock.now());
    return attempt;
  }

  #run(script: Script, key: string, args: string[]): Promise<unknown> {
    return this.#sent(
      `${script.name} ${JSON.stringify(key)}`,
      () => this.#port.run(script, keysOf(this.#prefix, key), args),
      key,
    );
  }

  #sent(what: string, send: () => Promise<unknown>, key?: string): Promise<unknown> {
    if (this.#port.ended) return Promise.reject(ended(what, key));
    return send().catch((error) => {
      throw meaning(error, what, key);
    });
  }
}
