import { type Claim, type Clock, isLockError } from '../../core/index.ts';
import { ServerClocks } from '../shared/server-clock.ts';
import type { Request, ScriptServers } from './command-batcher.ts';
import { closedError, isLasting, isReply, meaning } from './errors.ts';
import type { ResolvedRedisOptions } from './options.ts';
import { type Port, slotOf } from './port.ts';
import { ATTEMPT, type Script } from './scripts.generated.ts';
import { infosOf, refuseUnsupported } from './server-info.ts';
import { attemptArgs, readAttempt } from './wire.ts';

/** Sends scripts and commands to one server or to a Cluster. */
export class Server {
  commands = 0;
  /** How often the client may have sent requests twice: ioredis, and node-redis behind sentinels, send again what a lost connection did not answer. */
  resends = 0;
  readonly port: Port;
  readonly #unlisten: (() => void) | undefined;

  constructor(port: Port) {
    this.port = port;
    this.#unlisten = port.onResend?.(() => this.resends++);
  }

  /** Runs a script by its hash, or by its text if the server does not know the hash (restart, fail-over, SCRIPT FLUSH). */
  async run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    if (this.port.ended) throw closedError();
    this.commands++;
    try {
      const reply = await this.port.evalSha(script.sha1, keys, args);
      // In MULTI the script runs only at EXEC, if ever.
      if (!Array.isArray(reply) && String(reply) === 'QUEUED')
        throw new Error('the client is in MULTI; give redis() a client of its own');
      return reply;
    } catch (error) {
      if (!isReply(error, 'NOSCRIPT')) throw error;
    } finally {
      this.commands--;
    }
    return this.port.eval(script.text, keys, args);
  }

  command(act: string, name: string, keys: readonly string[], ...args: string[]): Promise<unknown> {
    const reply = this.port.ended ? Promise.reject(closedError()) : this.port.command(name, keys, ...args);
    return reply.catch((error) => {
      throw meaning(error, act);
    });
  }

  /**
   * Gives the answer to a request that has an effect only the first time.
   * @param did whether this answer says that the request had an effect
   * @throws Error if the answer says no, and the client may have sent the request twice: the first request may have had the effect
   */
  async once<T>(ask: () => Promise<T>, did: (answer: T) => boolean): Promise<T> {
    const { resends } = this;
    const answer = await ask();
    return resends === this.resends || did(answer) ? answer : unknownEffect();
  }

  close(): void {
    this.#unlisten?.();
  }
}

/** A server or a Cluster, with the keys and the clocks of its locks. */
export abstract class KeyedServer extends Server {
  readonly clock: Clock;
  readonly clocks: ServerClocks;

  constructor(port: Port, clock: Clock) {
    super(port);
    this.clock = clock;
    this.clocks = new ServerClocks(clock, port.cluster ? (key) => this.nodeOf(key) : undefined);
  }

  abstract keyOf(key: string): string;

  slotOf(key: string): number {
    return slotOf(this.port.keyPrefix + this.keyOf(key));
  }

  /** Names the server that has this key now. */
  nodeOf(key: string): string {
    return this.port.nodeOf(this.slotOf(key));
  }

  /** Gives the group of a request: one script may answer requests of one group only. Undefined if a script may answer any requests. */
  get groupOf(): ((request: { readonly key: string }) => number) | undefined {
    return this.port.cluster ? ({ key }) => this.slotOf(key) : undefined;
  }
}

/** Throws the error for a request that was sent twice: the answer to the second does not show what the first did. */
export function unknownEffect(): never {
  throw new Error('the connection was lost and the client sent it again: it is not known what it did the first time');
}

const ESCAPES: Readonly<Record<string, string>> = { '%': '%25', '{': '%7B', '}': '%7D' };

/** Encodes a name, so that its braces do not move the hash tag, and no two names give one key. */
export const encode = (name: string): string => name.replace(/[%{}]/g, (char) => ESCAPES[char]!);

/** Gives the key of a lock. Scripts use two more keys, `…:queue` and `…:claims`, with the same hash tag, and so in the same slot of a Cluster. */
export const lockOf = (prefix: string, name: string): string =>
  `${prefix}:{${/[%{}]/.test(name) ? encode(name) : name}}`;

/**
 * Gives the keys of these locks that a command in a Cluster must name. To a single server a command names the locks alone, and the scripts derive the
 * other keys. A Cluster moves a slot key by key, and meanwhile refuses a command whose named keys are not all at one server (TRYAGAIN). If only
 * the locks were named, a script could find a lock without its queue, and treat the lock as free.
 */
function keysOf(locks: readonly string[], withValue = false): readonly string[] {
  const others = [':queue', ':claims', ...(withValue ? [valueKeyOf('')] : [])];
  return [...locks, ...locks.flatMap((lock) => others.map((end) => `${lock}${end}`))];
}

/** Gives the key of the value under a lock. The scripts for values derive it from the key of the lock. */
export const valueKeyOf = (lock: string): string => `${lock}:value`;

/** Gives the key of a hint. A lock of the same name has other keys. */
export const hintKeyOf = (prefix: string, name: string): string => `${lockOf(prefix, name)}:hint`;

/** Gives the replies as a list. A script gives the reply to a single request without a list. */
export const repliesTo = (requests: readonly Request[], reply: unknown): unknown[] =>
  requests.length === 1 ? [reply] : (reply as unknown[]);

/** The claim of an attempt that only asks for the time. */
const PROBE_CLAIM = {
  ...{ id: '-', units: 1, capacity: 1, tokenCount: 1, ttl: 1_000 },
  ...{ queue: false, within: 1_000, label: '' },
};

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

  /** Gives the server's time, ms. Sends an attempt that is already too late: it changes nothing, and the answer has the time. */
  async learnTime(key: string): Promise<number> {
    await this.#refuseUnsupported(key);
    const sent = this.clock.now();
    const reply = await this.askOne(ATTEMPT, { key, args: attemptArgs({ ...PROBE_CLAIM, key }, '-', 0, 0) });
    const { time } = readAttempt(reply, PROBE_CLAIM);
    this.clocks.of(key).learn(time, sent);
    return time;
  }

  /**
   * Asks for the server's time, and gives the last moment at which the server may grant a claim that was sent at `sent`, ms. If the key moves
   * meanwhile to a server whose clock is not known, gives 0, and the new server answers that the claim is too late.
   */
  async learnLimit({ key, within }: Pick<Claim, 'key' | 'within'>, sent: number): Promise<number> {
    await this.learnTime(key);
    return this.clocks.of(key).in(within, sent) ?? 0;
  }

  /**
   * Asks once which software the server is, and whether all names lead to one server. If the user has no right to ask, nothing is refused. A Cluster
   * is not asked: one of its nodes might hang.
   * @throws LockError `LOCK_UNSUPPORTED`
   */
  async #refuseUnsupported(key: string): Promise<void> {
    if (this.port.cluster) return;
    this.#supported ??= infosOf(this.port, (end) => this.keyOf(key + end))
      .then(refuseUnsupported)
      .catch((error: unknown) => {
        // The next call asks again: the server did not answer, the owner of the client may mend it, or another server may answer by then.
        if (!isLasting(error)) this.#supported = undefined;
        if (isLockError(error)) throw error;
      });
    await this.#supported;
  }

  keyOf(key: string): string {
    return lockOf(this.prefix, key);
  }

  wire(requests: readonly Request[]): { keys: readonly string[]; args: string[] } {
    const locks = requests.map(({ key }) => this.keyOf(key));
    return { keys: this.port.cluster ? keysOf(locks) : locks, args: requests.flatMap(({ args }) => args) };
  }

  async ask(script: Script, requests: readonly Request[]): Promise<unknown[]> {
    const { keys, args } = this.wire(requests);
    return repliesTo(requests, await this.run(script, keys, args));
  }

  /** @param withValue whether the script is about the value of the key, too */
  askOne(script: Script, { key, args }: Request, withValue = false): Promise<unknown> {
    const locks = [lockOf(this.prefix, key)];
    return this.run(script, this.port.cluster ? keysOf(locks, withValue) : locks, args);
  }

  /** Makes the client find out which server has this key now. */
  find({ key }: { readonly key: string }): Promise<unknown> {
    return this.port.command('GET', [this.keyOf(key)]);
  }
}
