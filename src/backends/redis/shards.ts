import type { Clock } from '../../core/contract/clock.ts';
import { isLockError } from '../../core/contract/errors.ts';
import { ServerClock } from '../shared/server-clock.ts';
import type { Traffic } from './command-batcher.ts';
import { closedError, isReply, meaning } from './errors.ts';
import { keysOf, lockOf, slotOf, wordsOf } from './keys.ts';
import type { Port } from './port.ts';
import { ATTEMPT, type Script } from './scripts.generated.ts';
import { refuseUnsupported } from './server-kind.ts';
import { attemptArgs, readAttempt } from './wire.ts';

/** The server, or the servers of a Cluster, as one. */
export class Server implements Traffic {
  commands = 0;
  readonly #port: Port;

  constructor(port: Port) {
    this.#port = port;
  }

  /** Runs a script by its hash; where the server does not know it (restart, fail-over, SCRIPT FLUSH), by its text. */
  async run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    if (this.#port.ended) throw closedError();
    this.commands++;
    try {
      const reply = await this.#port.evalSha(script.sha1, keys, args);
      // It will be done when the transaction is, if ever.
      if (!Array.isArray(reply) && String(reply) === 'QUEUED')
        throw new Error('the client is in MULTI; give redis() a client of its own');
      return reply;
    } catch (error) {
      if (!isReply(error, 'NOSCRIPT')) throw error;
    } finally {
      this.commands--;
    }
    return this.#port.eval(script.text, keys, args);
  }

  /** Sends a command whose keys come before its other arguments. */
  command(act: string, name: string, keys: readonly string[], ...args: string[]): Promise<unknown> {
    const reply = this.#port.ended ? Promise.reject(closedError()) : this.#port.command(name, keys, ...args);
    return reply.catch((error) => {
      throw meaning(error, act);
    });
  }
}

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

/** Sends requests to the server that has their key, and knows the clock of that server. */
export class Shards {
  readonly #port: Port;
  readonly #server: Server;
  readonly #prefix: string;
  readonly #clock: Clock;
  /** The clock of the server, unless this is a Cluster. */
  readonly #serverClock: ServerClock;
  #supported: Promise<void> | undefined;
  readonly #clockOf = new Map<string, ServerClock>();

  constructor(port: Port, server: Server, prefix: string, clock: Clock) {
    this.#port = port;
    this.#server = server;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#serverClock = new ServerClock(clock);
  }

  /** Gives the group of a request. One script may answer the requests of one group. Undefined means that it may answer any. */
  get groupOf(): ((request: { readonly key: string }) => number) | undefined {
    return this.#port.cluster ? ({ key }) => this.slotOf(key) : undefined;
  }

  /** Gives the clock of the server that has this key now: each server has its own. */
  clockOf(key: string): ServerClock {
    if (!this.#port.cluster) return this.#serverClock;
    const node = this.#port.nodeOf(this.slotOf(key));
    let clock = this.#clockOf.get(node);
    if (!clock) {
      clock = new ServerClock(this.#clock);
      this.#clockOf.set(node, clock);
    }
    return clock;
  }

  /** Asks a server for its time. It sends an attempt that is already too late, which changes nothing, and whose refusal tells the time. */
  async learnTime(key: string): Promise<number> {
    await this.#refuseUnsupported(key);
    const sent = this.#clock.now();
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
    if (this.#port.cluster) return;
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
    const info = this.#port.eval(WHICH, [this.keyOf(key)], []).catch((error: Error) => {
      if (!/not allowed from script/i.test(error.message)) throw error;
      return this.#port.command('INFO', [], 'server');
    });
    return String(await info);
  }

  /** Gives the key in which a lock is kept. */
  keyOf(key: string): string {
    return lockOf(this.#prefix, key);
  }

  slotOf(key: string): number {
    return slotOf(this.#port.keyPrefix + this.keyOf(key));
  }

  /** Gives the keys and arguments with which one script answers all these requests. */
  wire(requests: readonly Request[]): { keys: readonly string[]; args: string[] } {
    const locks = requests.map(({ key }) => this.keyOf(key));
    return { keys: keysOf(locks, this.#port.cluster), args: requests.flatMap(({ args }) => args) };
  }

  /** Runs one script for all these requests, and gives one reply per request. */
  async ask(script: Script, requests: readonly Request[]): Promise<unknown[]> {
    const { keys, args } = this.wire(requests);
    return repliesTo(requests, await this.#server.run(script, keys, args));
  }

  /** Runs a script for one request, and gives its reply. */
  askOne(script: Script, { key, args }: Request): Promise<unknown> {
    return this.#server.run(script, keysOf([lockOf(this.#prefix, key)], this.#port.cluster), args);
  }

  /** Runs a script that is about the words of a key, too. */
  askOfWords(script: Script, { key, args }: Request): Promise<unknown> {
    const lock = this.keyOf(key);
    const { cluster } = this.#port;
    return this.#server.run(script, [...keysOf([lock], cluster), ...(cluster ? [wordsOf(lock)] : [])], args);
  }

  /** Makes the client find out which server has this key now. */
  find({ key }: { readonly key: string }): Promise<unknown> {
    return this.#port.command('GET', [this.keyOf(key)]);
  }

  /** Gives the answers. In a Cluster it gives none after `patience` ms of silence, so that a node that hangs delays nobody else. */
  async within(patience: number, answers: Promise<unknown[]>): Promise<unknown[]> {
    if (!this.#port.cluster) return answers;
    let cancel = (): void => {};
    const silence = new Promise<unknown[]>((resolve) => {
      cancel = this.#clock.after(patience, () => resolve([]));
    });
    try {
      return await Promise.race([answers, silence]);
    } finally {
      cancel();
    }
  }
}
