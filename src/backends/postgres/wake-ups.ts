import type { Cancel, Claim, Clock, Wake } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import { BufferedClaims } from '../shared/waiting-claims.ts';
import type { Listen } from './clients.ts';
import type { Dial } from './pool.ts';
import { Session } from './session.ts';

/** The first and the longest pause before another try to connect, in which waiters poll; and the longest wait of `test`: all in ms. */
const RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;
const TEST_MS = 1_000;
/** ms between two looks at whether any claim is watched. After `MAX_IDLE_LOOKS` in a row that find no claim, the process stops listening. */
export const IDLE_LOOK_MS = 10_000;
const MAX_IDLE_LOOKS = 3;

/** Gives the session a name, by which `check()` counts the sessions of all processes that listen. */
const NAME =
  "SELECT set_config('application_name', left(current_setting('application_name'), 40) || ' holdfast listens', false)";

/**
 * The one connection on which this process listens to two channels: its own, for its claims that are admitted, and one of all processes, for
 * evictions. The connection opens for the first claim that must wait or has held for a while. It ends some time after the last such claim, since up
 * to version 18 each NOTIFY wakes all sessions that listen. When listening begins, all these claims are woken: they may have missed a notification.
 */
export class Notifications {
  /** The channel of this process. Its name is random, so nobody else can guess it and listen. */
  channel: string;
  readonly #dial: Dial | { readonly listen: Listen };
  readonly #sessionPooler: boolean;
  readonly #clock: Clock;
  /** The claims that wait, and the holds that must be notified of their eviction. */
  readonly #waiting: BufferedClaims;
  readonly #evictions: string;
  #link: { end(): Promise<void> } | undefined;
  #stopLooking: Cancel = () => {};
  #idleLooks = 0;
  #opening: Promise<void> | undefined;
  /** Set during the pause before the next try. */
  #again: Cancel | undefined;
  #failures = 0;
  #tests: (() => void)[] = [];
  #closed = false;

  /**
   * @param dial how to connect, or how the client of the application listens
   * @param evictions the channel for evictions
   * @param sessionPooler whether the connection goes through a pooler of whole sessions
   */
  constructor(dial: Dial | { readonly listen: Listen }, clock: Clock, evictions: string, sessionPooler = false) {
    this.#dial = dial;
    this.#sessionPooler = sessionPooler;
    this.#clock = clock;
    this.#evictions = evictions;
    this.#waiting = new BufferedClaims(clock);
    this.channel = `holdfast_${clock.id()}`;
  }

  watch(claim: Claim, wake: Wake, age?: number): AsyncDisposable {
    return this.#waiting.watchSince(claim, wake, age);
  }

  watchHold(claim: Claim, wake: Wake, age: number): AsyncDisposable {
    void this.open();
    return this.watch(claim, wake, age);
  }

  get session(): Session | undefined {
    return this.#link instanceof Session ? this.#link : undefined;
  }

  /** Begins to listen, unless this process listens or pauses before the next try. Resolves after one try, even if the try failed. */
  open(): Promise<void> {
    this.#idleLooks = 0; // a claim is about to be watched
    if (this.#link || this.#closed || this.#again) return Promise.resolve();
    this.#opening ??= this.#listen()
      .catch(() => this.#retry())
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  /** Finds out whether a notification to the channel arrives here within a second. */
  async test(send: (channel: string) => Promise<unknown>): Promise<boolean> {
    await this.open();
    if (!this.#link) return false;
    const { promise: arrived, resolve } = Promise.withResolvers<boolean>();
    const cancel = this.#clock.after(TEST_MS, () => resolve(false));
    this.#tests.push(() => resolve(true));
    await send(this.channel);
    return arrived.finally(cancel);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#again?.();
    await this.#opening;
    await this.#stop();
  }

  async #listen(): Promise<void> {
    const wakeAll = (): void => this.#waiting.wakeAll();
    const channels = [this.channel, this.#evictions] as const;
    const onNotify = (channel: string, payload: string): void =>
      channel === this.#evictions ? this.#wakeHolders(payload) : this.#deliver(payload);
    if (typeof this.#dial !== 'function') {
      const { listen } = this.#dial;
      // Once a channel has failed, postgres.js (3.4) fails on that channel again, so the next try takes another channel.
      const link = await listenBy(listen, channels, onNotify, wakeAll).catch((error) => {
        this.channel = `holdfast_${this.#clock.id()}`;
        throw error;
      });
      return this.#keep(link);
    }
    const session = await Session.open(this.#dial, this.#clock, this.#sessionPooler);
    if (!(await listens(session, channels, onNotify))) return this.#retry(MAX_RETRY_MS);
    if (session.ended.aborted) return this.#retry();
    this.#keep(session);
    session.ended.addEventListener('abort', () => {
      if (this.#link !== session) return;
      void this.#stop();
      this.#retry();
    });
    wakeAll();
  }

  #keep(link: { end(): Promise<void> }): void {
    this.#link = link;
    this.#failures = 0;
    const look = () => {
      this.#idleLooks = this.#waiting.size > 0 ? 0 : this.#idleLooks + 1;
      return this.#idleLooks < MAX_IDLE_LOOKS ? undefined : this.#stop();
    };
    this.#stopLooking = repeat(this.#clock, () => IDLE_LOOK_MS, look);
  }

  async #stop(): Promise<void> {
    this.#stopLooking();
    const link = this.#link;
    this.#link = undefined;
    await link?.end();
  }

  #retry(least = RETRY_MS): void {
    if (this.#closed || this.#waiting.size === 0) return;
    const pause = Math.min(least * 2 ** this.#failures++, MAX_RETRY_MS) * (0.5 + this.#clock.random() / 2);
    const again = (): void => {
      this.#again = undefined;
      void this.open();
    };
    this.#again = this.#clock.after(pause, again, true);
  }

  /** @param payload the key of the hold that was evicted, in hex */
  #wakeHolders(payload: string): void {
    const evicted = Buffer.from(payload, 'hex').toString();
    this.#waiting.wakeAll(({ key }) => key === evicted);
  }

  /** @param payload `token id` of an admitted claim; or, in hex, a key under which a value was stored; or empty, for a test */
  #deliver(payload: string): void {
    if (payload === '') for (const passed of this.#tests.splice(0)) passed();
    const [token, id] = payload.split(' ');
    const waiter = id === undefined ? undefined : this.#waiting.addressee(id);
    // The core counts the ttl from the last attempt. That is safe: the server counts it from the admission, which came later.
    waiter?.wake({ granted: true, token: BigInt(token!), validFor: waiter.claim.ttl });
    if (id === undefined) this.#waiting.wakeAnswerable(Buffer.from(payload, 'hex').toString());
  }
}

type OnNotification = (channel: string, payload: string) => void;

/** Makes a session listen. @returns false if the session goes through a pooler: then it has ended */
async function listens(session: Session, channels: readonly string[], onNotify: OnNotification): Promise<boolean> {
  try {
    if (!(await session.isOwn())) {
      // A pooler soon gives this session to another client. The session would still listen, and the server's queue of NOTIFY would not be emptied.
      await session.end();
      return false;
    }
    session.onNotification(({ channel, payload = '' }) => onNotify(channel, payload));
    for (const text of [NAME, ...channels.map((channel) => `LISTEN "${channel}"`)]) await session.query(text);
    return true;
  } catch (error) {
    session.cut();
    throw error;
  }
}

/** Listens through the client of the application. After a loss, the client connects again by itself, and calls `onListening`. */
async function listenBy(
  listen: Listen,
  [own, evictions]: readonly [string, string],
  onNotify: OnNotification,
  onListening: () => void,
): Promise<{ end(): Promise<void> }> {
  const stop = await listen(own, (payload) => onNotify(own, payload), onListening);
  // If LISTEN fails for this channel, a holder learns of its eviction at its next renewal.
  const other = listen(evictions, (payload) => onNotify(evictions, payload), onListening);
  const stopOther = await other.catch(() => () => {});
  return { end: async () => void (await Promise.allSettled([stop(), stopOther()])) };
}
