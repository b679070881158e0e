import {
  type Attempt,
  type Backend,
  type Claim,
  EXCLUSIVE,
  type Finding,
  type Handle,
  invalid,
  type Listing,
  LONGEST,
  LockError,
  type QueueEntry,
  type Release,
  type Renewal,
  type Traits,
  type Wake,
} from '../../core/index.ts';
import { portOf, type RedisClient } from '../redis/client.ts';
import { renewals } from '../redis/renewals.ts';
import { Incarnation } from '../redis/server.ts';
import { type PlainRedisOptions, resolvePlainOptions } from './options.ts';
import { ATTEMPT, RELEASE, RENEW } from './scripts.generated.ts';
import { PlainServer } from './server.ts';
import { KeyWakeUps } from './wake-ups.ts';

const NAME = 'redis-plain';

const TRAITS: Traits = {
  units: 'exclusive',
  fair: false,
  canStarve: true,
  fencing: 'durable',
  tokenBlocks: false,
  wakes: 'watch',
  expires: true,
  lifetime: 'lease',
  renewedFrom: 'anywhere',
  hasStrangers: true,
  ttl: { min: 10, max: LONGEST },
};

/** The pause of a waiter that nothing wakes now, ms; up to half of it is left out at random. */
const POLL_MS = 100;
/** Where a token that is above the clock is kept until the clock has passed it. Only nodes of a quorum get such tokens. */
const RAISED = 'holdfast:raised:';
/** A script counts in doubles. */
const MAX_TOKEN = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Locks as most programs keep them in Redis (`SET key text NX PX ttl`, compare and delete), so that redlock, redis-semaphore, redsync, redis-py,
 * Spring's `RedisLockRegistry` and others are kept out, and keep us out: mutexes over the caller's connected client. The caller closes the
 * client.
 * @throws LockError `LOCK_INVALID` when it is not such a client, or an option is malformed
 * @example
 * import { Redis } from 'ioredis';
 * const locks = createLocks(plainRedis(new Redis(), { key: (name) => `mutex:${name}` }));
 */
export function plainRedis(client: RedisClient, options: PlainRedisOptions = {}): Backend {
  const { naming, clock } = resolvePlainOptions(options);
  return new PlainRedis(new PlainServer(NAME, portOf(client, 'plainRedis()'), naming, clock));
}

/** Makes the finding that nothing wakes a waiter, with the reason. */
const polling = (why: string): Finding => ({
  severity: 'warning',
  code: 'polling',
  message: `a waiter asks again and again, because no change of a key is told: ${why}`,
  advice: 'use Redis 6.2 or newer or Valkey over ioredis or node-redis, and grant the user +client and +subscribe',
});

class PlainRedis implements Backend {
  readonly name = NAME;
  readonly traits: Traits;
  readonly incarnation?: Backend['incarnation'];
  readonly watch?: Backend['watch'];
  readonly #server: PlainServer;
  /** Undefined where the client has no connection that hears of changes: then waiters poll. */
  readonly #wakeUps: KeyWakeUps | undefined;
  readonly #incarnation: Incarnation;

  constructor(server: PlainServer) {
    const { port, clock, naming } = server;
    this.#server = server;
    this.#incarnation = new Incarnation(server);
    if (port.onConnection) this.incarnation = () => this.#incarnation.ask();
    const wakeUps = port.listenForKeys && new KeyWakeUps(port, clock);
    this.#wakeUps = wakeUps;
    this.traits = wakeUps ? TRAITS : { ...TRAITS, wakes: 'never' };
    if (wakeUps) this.watch = (claim, wake: Wake) => wakeUps.watch(naming.keyOf(claim.key), claim, wake);
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const { key: name, id, ttl, within, label, minToken = 0n } = claim;
    const { port, clock, naming } = this.#server;
    if (/\s/.test(id)) throw invalid('the id of a claim must hold no white space', name);
    this.#checkToken(minToken, name);
    const key = naming.keyOf(name);
    const keys = port.cluster ? [key] : [key, `${RAISED}${key}`];
    const began = clock.now();
    const answer = async (): Promise<unknown[]> => {
      const sent = clock.now();
      const limit = Math.floor((this.#server.clockOf(name).in(within, began) ?? 0) * 1_000);
      const args = [`${limit}`, `${Math.ceil(ttl)}`, id, `${minToken}`, label];
      const reply = (await this.#server.ask('attempt', ATTEMPT, keys, args, name)) as unknown[];
      this.#server.clockOf(name).learn(Number(reply[1]) / 1_000, sent);
      return reply;
    };
    // The first answer of a server only tells its time.
    const isKnown = this.#server.clockOf(name).known;
    const first = await answer();
    const [what, , left] = isKnown ? first : await answer();
    if (`${what}` === 'late') return { granted: false, late: true };
    if (`${what}` !== 'held') return { granted: true, token: BigInt(`${what}`), validFor: ttl };
    return { granted: false, ...this.#retryAfter(key, Number(left)) };
  }

  /** Gives when it is worth asking again: at the expiry, if there is one. Where nobody is woken now, a holder may have left before. */
  #retryAfter(key: string, left: number): { readonly retryAfter?: number } {
    const end = left < 0 ? undefined : left + 1;
    if (!this.#wakeUps || this.#wakeUps.isAwaited(key)) return end === undefined ? {} : { retryAfter: end };
    const poll = POLL_MS * (1 - this.#server.clock.random() / 2);
    return { retryAfter: Math.min(end ?? poll, poll) };
  }

  #checkToken(minToken: bigint, name: string): void {
    const why =
      minToken > MAX_TOKEN
        ? 'gives no tokens above 2^53, which another node of its quorum does'
        : 'cannot be a node of a quorum on a Redis Cluster: a token above the clock would have to be kept in the slot of the lock';
    if (minToken <= MAX_TOKEN && (minToken <= 0n || !this.#server.port.cluster)) return;
    throw new LockError('LOCK_UNSUPPORTED', `plainRedis() ${why}`, { backend: NAME, key: name });
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return renewals(claims, this.#server, async (batch) => {
      const keys = batch.map(({ key }) => this.#server.naming.keyOf(key));
      const args = batch.flatMap(({ id, ttl }) => [id, `${Math.ceil(ttl)}`]);
      return (await this.#server.run(RENEW, keys, args)) as unknown[];
    });
  }

  /** The next claim is left alone: between the two a stranger has its chance, as everywhere in this convention. */
  async release({ key, id }: Handle): Promise<Release> {
    return { freed: await this.#free('release', key, id, '-') };
  }

  evict(key: string, token: bigint): Promise<boolean> {
    return this.#free('evict', key, '-', `${token}`);
  }

  #free(act: string, name: string, id: string, token: string): Promise<boolean> {
    const { naming } = this.#server;
    const key = naming.keyOf(name);
    const channels = naming.channelsOf(key);
    const ask = async (): Promise<boolean> =>
      Number(await this.#server.ask(act, RELEASE, [key], [id, token, key, ...channels], name)) === 1;
    return this.#server.once(ask, (freed) => freed);
  }

  async *inspect(prefix: string, listing?: Listing): AsyncIterable<QueueEntry> {
    const { inspect } = await import('./inspect.ts'); // few programs call this
    yield* inspect(this.#server, prefix, listing);
  }

  async check(): Promise<Finding[]> {
    const { aside, findings } = await import('../redis/check.ts');
    const { port, clock } = this.#server;
    const id = clock.id();
    const claim = {
      ...EXCLUSIVE,
      key: `check:${id}`,
      id,
      ttl: 1_000,
      queue: false,
      tokenCount: 1,
      within: 1_000,
      label: '',
    };
    const trial = async (): Promise<void> => {
      await this.attempt(claim);
      const watching = this.#wakeUps?.watch(this.#server.naming.keyOf(claim.key), claim, () => {});
      await watching?.then((watch) => watch[Symbol.asyncDispose]()).catch(() => {});
      await this.release(claim);
    };
    const found = await aside(port, (nodes) => findings(nodes, trial, 0, clock));
    const why = this.#wakeUps
      ? this.#wakeUps.refusal
      : 'the client library gives no connection that could hear of changes';
    return why === undefined ? found : [...found, polling(why)];
  }

  ended(): boolean {
    return this.#server.port.ended;
  }

  async close(): Promise<void> {
    this.#wakeUps?.close();
    this.#incarnation.close();
    this.#server.close();
  }
}
