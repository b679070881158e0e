import { isLockError } from '../../core/index.ts';
import type { Asker } from './command-batcher.ts';
import { isReply, meaning } from './errors.ts';
import { keysOf, lockOf, valueKeyOf } from './keys.ts';
import type { ResolvedRedisOptions } from './options.ts';
import type { Port } from './port.ts';
import { ATTEMPT, type Script } from './scripts.generated.ts';
import { KeyedServer, refuseUnsupported } from './server.ts';
import { attemptArgs, readAttempt } from './wire.ts';

/** The key and the arguments of one request. One script may answer many requests. */
export interface Request {
  readonly key: string;
  readonly args: readonly string[];
}

/** A script that answers many requests gives the reply to a single one without a list around it. */
export const repliesTo = (requests: readonly Request[], reply: unknown): unknown[] =>
  requests.length === 1 ? [reply] : (reply as unknown[]);

/** A claim that nobody makes. */
const NOBODY = { id: '-', units: 1, capacity: 1, tokenCount: 1, ttl: 1_000, queue: false, within: 1_000, label: '' };

/** The number of names by which a proxy that spreads names over servers is found. It hides from that once in 30,000 times, at most. */
const NAMES = 16;
/** Gives what INFO says of the server. */
const WHICH = "return redis.call('INFO', 'server')";

/** Sends requests to the server that has their key, and knows the options. */
export class Shards extends KeyedServer {
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
    const reply = await this.askOne(ATTEMPT, { key, args: attemptArgs({ ...NOBODY, key }, '-', 0, 0) });
    const { time } = readAttempt(reply, NOBODY);
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
      Promise.all(Array.from({ length: NAMES }, (_, i) => this.#infoOf(`${key}:${i}`)));
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

  /** Gives the key in which a lock is kept. */
  keyOf(key: string): string {
    return lockOf(this.prefix, key);
  }

  /** Gives the keys and arguments with which one script answers all these requests. */
  wire(requests: readonly Request[]): { keys: readonly string[]; args: string[] } {
    const locks = requests.map(({ key }) => this.keyOf(key));
    return { keys: keysOf(locks, this.port.cluster), args: requests.flatMap(({ args }) => args) };
  }

  /** Runs one script for all these requests, and gives one reply per request. */
  async ask(script: Script, requests: readonly Request[]): Promise<unknown[]> {
    const { keys, args } = this.wire(requests);
    return repliesTo(requests, await this.run(script, keys, args));
  }

  /** Runs a script for one request, and gives its reply. */
  askOne(script: Script, { key, args }: Request): Promise<unknown> {
    return this.run(script, keysOf([this.keyOf(key)], this.port.cluster), args);
  }

  /** Runs a script that is about the value of a key, too. */
  askOfValue(script: Script, { key, args }: Request): Promise<unknown> {
    const lock = this.keyOf(key);
    const { cluster } = this.port;
    return this.run(script, [...keysOf([lock], cluster), ...(cluster ? [valueKeyOf(lock)] : [])], args);
  }

  /** Makes the client find out which server has this key now. */
  find({ key }: { readonly key: string }): Promise<unknown> {
    return this.port.command('GET', [this.keyOf(key)]);
  }
}

/** Asks by one script, in one command for many requests. */
export const asker = (
  servers: { ask: Shards['ask']; askOne: Shards['askOne'] },
  script: Script,
): Asker<Request, unknown> => ({
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
