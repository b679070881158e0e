import { isLockError } from '../../core/index.ts';
import type { Request, ScriptServers } from './command-batcher.ts';
import { meaning } from './errors.ts';
import { keysOf, lockOf } from './keys.ts';
import type { ResolvedRedisOptions } from './options.ts';
import type { Port } from './port.ts';
import { ATTEMPT, type Script } from './scripts.generated.ts';
import { KeyedServer, refuseUnsupported } from './server.ts';
import { attemptArgs, readAttempt } from './wire.ts';

/** A script that answers many requests gives the reply to a single one without a list around it. */
export const repliesTo = (requests: readonly Request[], reply: unknown): unknown[] =>
  requests.length === 1 ? [reply] : (reply as unknown[]);

/** A claim that nobody makes. */
const PROBE_CLAIM = {
  id: '-',
  units: 1,
  capacity: 1,
  tokenCount: 1,
  ttl: 1_000,
  queue: false,
  within: 1_000,
  label: '',
};

/** The number of names by which a proxy that spreads names over servers is found. It hides from that once in 30,000 times, at most. */
const PROBED_NAMES = 16;
const WHICH = "return redis.call('INFO', 'server')";

/** Sends requests to the server that has their key, and knows the options. */
export class Shards extends KeyedServer implements ScriptServers {
  readonly prefix: string;
  /** For how long a key that nobody uses keeps its last token, ms. */
  readonly remember: number;
  #supported: Promise<void> | undefined;

  constructor(port: Port, { prefix, clock, remember }: Pick<ResolvedRedisOptions, 'prefix' | 'clock' | 'remember'>) {
    super(port, clock);
    this.prefix = prefix;
    this.remember = remember;
  }

  /** Asks a server for its time. It sends an attempt that is already too late, which changes nothing, and whose refusal tells the time. */
  async learnTime(key: string): Promise<number> {
    await this.#refuseUnsupported(key);
    const sent = this.clock.now();
    const reply = await this.askOne(ATTEMPT, { key, args: attemptArgs({ ...PROBE_CLAIM, key }, '-', 0, 0) });
    const { time } = readAttempt(reply, PROBE_CLAIM);
    this.clockOf(key).learn(time, sent);
    return time;
  }

  /**
   * Asks once which software the server is, and whether it is one. A user without the right to ask is not refused. A Cluster is not asked:
   * the node that answers might be one that hangs, and there every script names all its keys anyway.
   * @throws LockError `LOCK_UNSUPPORTED`
   */
  async #refuseUnsupported(key: string): Promise<void> {
    if (this.port.cluster) return;
    const infos = (): Promise<string[]> =>
      Promise.all(Array.from({ length: PROBED_NAMES }, (_, i) => this.#infoOf(`${key}:${i}`)));
    this.#supported ??= infos()
      .then(refuseUnsupported)
      .catch((error: unknown) => {
        // The server did not answer, or another one may answer later.
        if (isLockError(error) || !isLockError(meaning(error, 'say which server it is'))) this.#supported = undefined;
        if (isLockError(error)) throw error;
      });
    await this.#supported;
  }

  /**
   * A script asks, since some proxies (twemproxy) end a connection for INFO, which ioredis would then send again for ever. A server that does
   * not let scripts ask is behind no such proxy.
   */
  async #infoOf(key: string): Promise<string> {
    const info = this.port.eval(WHICH, [this.keyOf(key)], []).catch((error: Error) => {
      if (!/not allowed from script/i.test(error.message)) throw error;
      return this.port.command('INFO', [], 'server');
    });
    return String(await info);
  }

  keyOf(key: string): string {
    return lockOf(this.prefix, key);
  }

  wire(requests: readonly Request[]): { keys: readonly string[]; args: string[] } {
    const locks = requests.map(({ key }) => this.keyOf(key));
    return { keys: keysOf(locks, this.port.cluster), args: requests.flatMap(({ args }) => args) };
  }

  async ask(script: Script, requests: readonly Request[]): Promise<unknown[]> {
    const { keys, args } = this.wire(requests);
    return repliesTo(requests, await this.run(script, keys, args));
  }

  /** @param withValue whether the script is about the value of the key, too */
  askOne(script: Script, { key, args }: Request, withValue = false): Promise<unknown> {
    return this.run(script, keysOf([lockOf(this.prefix, key)], this.port.cluster, withValue), args);
  }

  /** Makes the client find out which server has this key now. */
  find({ key }: { readonly key: string }): Promise<unknown> {
    return this.port.command('GET', [this.keyOf(key)]);
  }
}
