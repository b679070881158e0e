import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Handle,
  invalid,
  type Listing,
  MAX_DURATION_MS,
  type QueueEntry,
  type Release,
  type Renewal,
  type Traits,
  type Wake,
} from '../../core/index.ts';
import { renewals } from '../redis/renewals.ts';
import { Incarnation } from '../redis/server-info.ts';
import type { Command, ForeignServer } from './server.ts';
import { type AdmitsReaders, KeyWakeUps } from './wake-ups.ts';

/** The traits of engines that keep holds as other programs do. */
export const FOREIGN: Traits = {
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
  ttl: { min: 10, max: MAX_DURATION_MS },
};

/** How another program stores locks, as scripts that read and write the same keys. */
export interface ForeignLayout {
  readonly traits: Traits;
  /**
   * Gives the script of an attempt. Its answer is `{'late', time}`, `{'held', time, PTTL}` or `{token, time}`, with the time of the server in µs.
   * @param limit the last moment by the clock of the server, µs
   * @throws LockError if the layout cannot carry the claim
   */
  attempt(claim: Claim, limit: string): Command;
  /** Makes the error for any other answer: the error says why the claim is refused for good. */
  refusal?(answer: readonly unknown[], claim: Claim): Error;
  /** Gives the script of a renewal. It answers 1 for each renewed hold, and 0 for each that is gone. */
  renew(claims: readonly Claim[]): Command;
  /** Gives the script that frees the hold with this id or token. It answers 1 if there was one. */
  release(key: string, hold: { readonly id: string } | { readonly token: bigint }): Command;
  readonly admitsReaders?: AdmitsReaders;
  inspect(server: ForeignServer, start: string, listing?: Listing): Promise<AsyncIterable<QueueEntry>>;
}

/** The longest pause of a waiter that nothing wakes, ms. Pauses are random, and at least half as long. */
const POLL_MS = 100;

/** Makes the finding that nothing wakes a waiter, with the reason. */
const polling = (why: string): Finding => ({
  severity: 'warning',
  code: 'polling',
  message: `a waiter asks again and again, because the server does not notify it of changes: ${why}`,
  advice: 'use Redis 6.2 or newer or Valkey over ioredis or node-redis, and grant the user +client and +subscribe',
});

/** An engine on Redis whose locks other programs take, too. */
export class ForeignBackend implements Backend {
  readonly name: string;
  readonly traits: Traits;
  readonly incarnation?: Backend['incarnation'];
  readonly watch?: Backend['watch'];
  readonly #server: ForeignServer;
  readonly #layout: ForeignLayout;
  /** Undefined if the client has no connection for notifications of changes. Then waiters poll. */
  readonly #wakeUps: KeyWakeUps | undefined;
  readonly #incarnation: Incarnation;

  constructor(server: ForeignServer, layout: ForeignLayout) {
    const { port, clock, naming } = server;
    this.name = server.name;
    this.#server = server;
    this.#layout = layout;
    this.#incarnation = new Incarnation(server);
    if (port.onConnection) this.incarnation = () => this.#incarnation.ask();
    const wakeUps = port.listenForKeys && new KeyWakeUps(port, clock, layout.admitsReaders);
    this.#wakeUps = wakeUps;
    this.traits = wakeUps ? layout.traits : { ...layout.traits, wakes: 'never' };
    if (wakeUps) this.watch = (claim, wake: Wake) => wakeUps.watch(naming.keyOf(claim.key), claim, wake);
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const { key: name, id, ttl, within } = claim;
    const { clock } = this.#server;
    if (/\s/.test(id)) throw invalid('the id of a claim must hold no white space', name);
    const began = clock.now();
    const answer = async (): Promise<unknown[]> => {
      const sent = clock.now();
      const limit = Math.floor((this.#server.clocks.of(name).in(within, began) ?? 0) * 1_000);
      const reply = await this.#server.ask('attempt', this.#layout.attempt(claim, `${limit}`), name);
      this.#server.clocks.of(name).learn(Number((reply as unknown[])[1]) / 1_000, sent);
      return reply as unknown[];
    };
    // While the clock of the server is unknown, the limit is 0, and the first answer only gives the time.
    const isKnown = this.#server.clocks.of(name).known;
    const first = await answer();
    const reply = isKnown ? first : await answer();
    const what = `${reply[0]}`;
    if (what === 'late') return { granted: false, late: true };
    if (what === 'held') return { granted: false, ...this.#retryAfter(this.#server.keyOf(name), Number(reply[2])) };
    if (/^\d+$/.test(what)) return { granted: true, token: BigInt(what), validFor: ttl };
    throw this.#layout.refusal?.(reply, claim);
  }

  /**
   * Gives when to ask again: at the expiry of the hold, if there is one. If nothing wakes the waiter, it asks sooner, since the holder may release
   * sooner.
   */
  #retryAfter(key: string, remaining: number): { readonly retryAfter?: number } {
    const end = remaining < 0 ? undefined : remaining + 1;
    if (!this.#wakeUps || this.#wakeUps.isAwaited(key)) return end === undefined ? {} : { retryAfter: end };
    const poll = POLL_MS * (1 - this.#server.clock.random() / 2);
    return { retryAfter: Math.min(end ?? poll, poll) };
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return renewals(claims, this.#server, async (batch) => {
      const { script, keys, args } = this.#layout.renew(batch);
      return (await this.#server.run(script, keys, args)) as unknown[];
    });
  }

  /** Frees the hold, and attempts no next claim: until that claim asks by itself, another program has the same chance to take the lock. */
  async release({ key, id }: Handle): Promise<Release> {
    return { freed: await this.#free('release', key, { id }) };
  }

  evict(key: string, token: bigint): Promise<boolean> {
    return this.#free('evict', key, { token });
  }

  #free(act: string, name: string, hold: Parameters<ForeignLayout['release']>[1]): Promise<boolean> {
    const ask = async (): Promise<boolean> =>
      Number(await this.#server.ask(act, this.#layout.release(name, hold), name)) === 1;
    return this.#server.once(ask, (freed) => freed);
  }

  async *inspect(prefix: string, listing?: Listing): AsyncIterable<QueueEntry> {
    yield* await this.#layout.inspect(this.#server, prefix, listing);
  }

  async check(): Promise<Finding[]> {
    const { check } = await import('../redis/check.ts');
    const listen = async (claim: Claim): Promise<void> => {
      const watching = this.#wakeUps?.watch(this.#server.keyOf(claim.key), claim, () => {});
      await watching?.then((watch) => watch[Symbol.asyncDispose]()).catch(() => {}); // `refusal` says why
    };
    const found = await check(this, this.#server, listen);
    const why = this.#wakeUps
      ? this.#wakeUps.refusal
      : 'the client library gives no connection for notifications of changes';
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
