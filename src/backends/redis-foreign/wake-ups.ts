import { type Cancel, type Claim, type Clock, isExclusive, type Wake } from '../../core/index.ts';
import { Channel, Impossible, REFUSED } from '../redis/channel.ts';
import { type Listening, type OwnConnection, type Port, slotOf } from '../redis/port.ts';
import { WaitingClaims } from '../shared/waiting-claims.ts';

/** The time after which a server that refused `CLIENT TRACKING` is asked again, ms. */
const REFUSED_FOR_MS = 60_000;
/** The longest random delay before a waiter asks for an expired key, ms, since other processes ask, too. */
const JITTER_MS = 5;
/** The server rounds times to whole ms, so a key may last this much longer than PTTL says, ms. */
const EXPIRED_AFTER_MS = 1;

/** A key for which claims wait. */
class AwaitedKey {
  readonly claims = new WaitingClaims();
  cancelTimer: Cancel = () => {};

  wake(some: (claim: Claim) => boolean = () => true): void {
    for (const { claim, wake } of [...this.claims.values()]) if (some(claim)) wake();
  }

  get hasReaders(): boolean {
    return [...this.claims.values()].some(({ claim }) => !isExclusive(claim));
  }
}

/** Gives whether readers may enter a taken key. Reads the key over `reader`, so that the server notifies of its next change. */
export type AdmitsReaders = (reader: OwnConnection, key: string) => Promise<boolean>;

/** The two connections to one server. `channel` receives the names of changed keys that were read over `reader`. */
interface Pair {
  readonly channel: Channel;
  reader: OwnConnection | undefined;
  /** A slot of the server: the one that was asked for last, since slots move away. */
  slot: number;
}

/**
 * Wakes waiters though no holder publishes anything. The server notifies this process of each change of a key that the process has read (`CLIENT
 * TRACKING`); a renewal is a change, too. So a changed key is read again, and its waiters are woken if it is free. The server notices an expiry late,
 * so a timer wakes waiters, too. https://redis.io/docs/latest/develop/reference/client-side-caching/
 */
export class KeyWakeUps {
  readonly #port: Port;
  readonly #clock: Clock;
  readonly #admitsReaders: AdmitsReaders | undefined;
  /** The awaited keys, by their names with the prefix of the client. */
  readonly #awaited = new Map<string, AwaitedKey>();
  readonly #byNode = new Map<string, Pair>();
  #refused: { readonly why: Error; readonly until: number } | undefined;

  constructor(port: Port, clock: Clock, admitsReaders: AdmitsReaders | undefined) {
    this.#port = port;
    this.#clock = clock;
    this.#admitsReaders = admitsReaders;
  }

  /** The reason why the server refused to notify of changes; undefined if it did not. */
  get refusal(): string | undefined {
    return this.#refused?.why.message;
  }

  /** Whether a waiter of this key will be woken. If the key has moved to another server, begins to listen to that server. */
  isAwaited(key: string): boolean {
    if (!this.#awaited.has(this.#port.keyPrefix + key)) return false;
    const { channel } = this.#pairAt(key);
    if (!channel.isOpen) channel.listen().catch(() => {}); // the next attempt tries again
    return channel.isOpen;
  }

  /** Rejects if the server cannot notify of changes now; core then calls again later. */
  async watch(key: string, claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const pair = this.#pairAt(key);
    await pair.channel.listen();
    const name = this.#port.keyPrefix + key;
    const awaited = this.#awaited.get(name) ?? new AwaitedKey();
    this.#awaited.set(name, awaited);
    const watch = awaited.claims.watch(claim, wake, () => {
      if (awaited.claims.size > 0) return;
      awaited.cancelTimer();
      if (this.#awaited.get(name) === awaited) this.#awaited.delete(name);
    });
    try {
      await this.#look(pair, name, awaited);
      return watch;
    } catch (error) {
      await watch[Symbol.asyncDispose]();
      throw error;
    }
  }

  close(): void {
    for (const { cancelTimer } of this.#awaited.values()) cancelTimer();
    this.#awaited.clear();
    for (const { channel } of this.#byNode.values()) channel.close();
  }

  #pairAt(key: string): Pair {
    const slot = slotOf(this.#port.keyPrefix + key);
    const node = this.#port.nodeOf(slot);
    const known = this.#byNode.get(node);
    if (known) return Object.assign(known, { slot });
    const here = (): [string, AwaitedKey][] =>
      [...this.#awaited].filter(([name]) => this.#port.nodeOf(slotOf(name)) === node);
    const channel = new Channel(
      {
        name: () => node,
        listen: (_, onMessage, lost) => {
          const [first] = here();
          return this.#open(pair, first ? slotOf(first[0]) : pair.slot, onMessage, lost);
        },
        onConnection: this.#port.onConnection,
        isWanted: () => here().length > 0,
        wakeAll: () => {
          for (const [name, awaited] of here()) {
            awaited.wake();
            this.#look(pair, name, awaited).catch(() => {}); // the connection is lost again
          }
        },
        deliver: (name) => {
          const changed = name === '' ? here() : [[name, this.#awaited.get(name)] as const]; // '' means that the database was emptied
          for (const [each, awaited] of changed) if (awaited) this.#look(pair, each, awaited).catch(() => {});
        },
      },
      this.#clock,
    );
    const pair: Pair = { channel, reader: undefined, slot };
    this.#byNode.set(node, pair);
    return pair;
  }

  /** Reads how long the key is taken, and wakes its waiters if it is free. The server then notifies of its next change. */
  async #look({ reader }: Pair, name: string, awaited: AwaitedKey): Promise<void> {
    if (!reader) throw new Error('the connection was lost');
    const key = name.slice(this.#port.keyPrefix.length);
    const admitsReaders = awaited.hasReaders && this.#admitsReaders?.(reader, key);
    const [remaining, readersMay] = await Promise.all([reader.command('PTTL', [key]).then(Number), admitsReaders]);
    awaited.cancelTimer();
    if (awaited.claims.size === 0) return;
    if (remaining === -2) awaited.wake();
    else if (readersMay) awaited.wake((claim) => !isExclusive(claim));
    if (remaining >= 0) {
      const pause = remaining + EXPIRED_AFTER_MS + this.#clock.random() * JITTER_MS;
      awaited.cancelTimer = this.#clock.after(pause, () => awaited.wake(), true);
    }
  }

  #open(pair: Pair, slot: number, onMessage: (name: string) => void, lost: () => void): Listening {
    const now = this.#clock.now();
    if (this.#refused && now < this.#refused.until) return { ready: Promise.reject(this.#refused.why), hangUp() {} };
    const over = new AbortController();
    const listening = this.#port.listenForKeys!(slot, onMessage, lost);
    const ready = this.#track(pair, slot, listening.ready, over.signal, lost).catch((error: Error) => {
      if (!REFUSED.test(error.message)) throw error;
      const why = new Impossible(`the server refused CLIENT TRACKING: ${error.message}`);
      this.#refused = { why, until: now + REFUSED_FOR_MS };
      throw why;
    });
    return {
      ready,
      hangUp() {
        over.abort();
        listening.hangUp();
      },
    };
  }

  async #track(pair: Pair, slot: number, ready: Promise<string>, over: AbortSignal, lost: () => void): Promise<void> {
    const [id, reader] = await Promise.all([ready, this.#port.ownConnection(slot, over, lost)]);
    await reader.command('CLIENT', [], 'TRACKING', 'ON', 'REDIRECT', id);
    this.#refused = undefined;
    pair.reader = reader;
  }
}
