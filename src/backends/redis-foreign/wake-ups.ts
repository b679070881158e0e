import { type Cancel, type Claim, type Clock, isExclusive, type Wake } from '../../core/index.ts';
import { Channel, Impossible, REFUSED } from '../redis/channel.ts';
import { type Listening, type OwnConnection, type Port, slotOf } from '../redis/port.ts';
import { WaitingClaims } from '../shared/waiting-claims.ts';

/** A server that refused to tell of changes is asked again after this many ms. */
const REFUSED_FOR_MS = 60_000;
/** The random part of the time after which an expiry is looked at, ms: the other processes that wait look, too. */
const JITTER_MS = 5;
/** The server counts a ms that has begun as a whole one. */
const EXPIRED_AFTER_MS = 1;

/** A key that somebody waits for. */
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

/** Tells whether readers may enter a key that is taken. It reads the key over this connection. */
export type AdmitsReaders = (reader: OwnConnection, key: string) => Promise<boolean>;

/** The connections to one server: one is told which keys have changed, of those that were read over the other one. */
interface Place {
  readonly channel: Channel;
  reader: OwnConnection | undefined;
}

/**
 * Wakes waiters though no holder publishes anything. The server tells of each change of a key that was read (`CLIENT TRACKING`), of a `DEL` as
 * well as of a renewal. So a changed key is read again, and its waiters are woken if it is free. An expiry is told late, so a timer runs
 * besides. https://redis.io/docs/latest/develop/reference/client-side-caching/
 */
export class KeyWakeUps {
  readonly #port: Port;
  readonly #clock: Clock;
  readonly #admitsReaders: AdmitsReaders | undefined;
  /** The awaited keys, as the server names them. */
  readonly #awaited = new Map<string, AwaitedKey>();
  readonly #places = new Map<string, Place>();
  #refused: { readonly why: Error; readonly until: number } | undefined;

  constructor(port: Port, clock: Clock, admitsReaders: AdmitsReaders | undefined) {
    this.#port = port;
    this.#clock = clock;
    this.#admitsReaders = admitsReaders;
  }

  /** The reason why the server tells of no changes, if it refused that. */
  get refusal(): string | undefined {
    return this.#refused?.why.message;
  }

  /** Whether a waiter of this key will be woken. If the key has another server since it was watched, that is listened to from now on. */
  isAwaited(key: string): boolean {
    if (!this.#awaited.has(this.#port.keyPrefix + key)) return false;
    const { channel } = this.#placeOf(key);
    if (!channel.isOpen) channel.listen().catch(() => {}); // the next attempt tries again
    return channel.isOpen;
  }

  /** Rejects where no change can be heard now; the claim is polled then. */
  async watch(key: string, claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const place = this.#placeOf(key);
    await place.channel.listen();
    const name = this.#port.keyPrefix + key;
    const awaited = this.#awaited.get(name) ?? new AwaitedKey();
    this.#awaited.set(name, awaited);
    const watch = awaited.claims.watch(claim, wake, () => {
      if (awaited.claims.size > 0) return;
      awaited.cancelTimer();
      if (this.#awaited.get(name) === awaited) this.#awaited.delete(name);
    });
    try {
      await this.#look(place, name, awaited);
      return watch;
    } catch (error) {
      await watch[Symbol.asyncDispose]();
      throw error;
    }
  }

  close(): void {
    for (const { cancelTimer } of this.#awaited.values()) cancelTimer();
    this.#awaited.clear();
    for (const { channel } of this.#places.values()) channel.close();
  }

  #nodeOf(key: string): string {
    return this.#port.nodeOf(slotOf(this.#port.keyPrefix + key));
  }

  #placeOf(key: string): Place {
    const node = this.#nodeOf(key);
    const known = this.#places.get(node);
    if (known) return known;
    const slot = slotOf(this.#port.keyPrefix + key);
    const here = (): [string, AwaitedKey][] =>
      [...this.#awaited].filter(([name]) => this.#port.nodeOf(slotOf(name)) === node);
    const channel = new Channel(
      {
        name: () => node,
        listen: (_, onMessage, lost) => this.#open(place, slot, onMessage, lost),
        onConnection: this.#port.onConnection,
        isWanted: () => here().length > 0,
        wakeAll: () => {
          for (const [name, awaited] of here()) {
            awaited.wake();
            this.#look(place, name, awaited).catch(() => {}); // the connection is lost again
          }
        },
        deliver: (name) => {
          const changed = name === '' ? here() : [[name, this.#awaited.get(name)] as const]; // '': the database was emptied
          for (const [each, awaited] of changed) if (awaited) this.#look(place, each, awaited).catch(() => {});
        },
      },
      this.#clock,
    );
    const place: Place = { channel, reader: undefined };
    this.#places.set(node, place);
    return place;
  }

  /** Reads how long the key is taken. From then on, the next change of it is told. */
  async #look({ reader }: Place, name: string, awaited: AwaitedKey): Promise<void> {
    if (!reader) throw new Error('the connection was lost');
    const key = name.slice(this.#port.keyPrefix.length);
    const admitsReaders = awaited.hasReaders && this.#admitsReaders?.(reader, key);
    const [left, readersMay] = await Promise.all([reader.command('PTTL', [key]).then(Number), admitsReaders]);
    awaited.cancelTimer();
    if (awaited.claims.size === 0) return;
    if (left === -2) awaited.wake();
    else if (readersMay) awaited.wake((claim) => !isExclusive(claim));
    if (left >= 0) {
      const pause = left + EXPIRED_AFTER_MS + this.#clock.random() * JITTER_MS;
      awaited.cancelTimer = this.#clock.after(pause, () => awaited.wake(), true);
    }
  }

  #open(place: Place, slot: number, onMessage: (name: string) => void, lost: () => void): Listening {
    const now = this.#clock.now();
    if (this.#refused && now < this.#refused.until) return { ready: Promise.reject(this.#refused.why), hangUp() {} };
    const over = new AbortController();
    const listening = this.#port.listenForKeys!(slot, onMessage, lost);
    const ready = this.#track(place, slot, listening.ready, over.signal, lost).catch((error: Error) => {
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

  async #track(place: Place, slot: number, ready: Promise<string>, over: AbortSignal, lost: () => void): Promise<void> {
    const [id, reader] = await Promise.all([ready, this.#port.ownConnection(slot, over, lost)]);
    await reader.command('CLIENT', [], 'TRACKING', 'ON', 'REDIRECT', id);
    this.#refused = undefined;
    place.reader = reader;
  }
}
