import type { Cancel, Claim, Clock, Wake } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import { BufferedClaims } from '../shared/waiting-claims.ts';
import type { Listen } from './clients.ts';
import type { Dial } from './pool.ts';
import { Session } from './session.ts';

/** ms before the connection is tried again: at first, and at most. Waiters poll meanwhile. */
const RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;
const TEST_MS = 1_000;
/** ms between two looks at whether any claim waits. After so many without one in a row, the process stops listening. */
export const IDLE_LOOK_MS = 10_000;
const MAX_IDLE_LOOKS = 3;

/** `check()` counts the sessions of all processes that listen, by this name. */
const NAME =
  "SELECT set_config('application_name', left(current_setting('application_name'), 40) || ' holdfast listens', false)";

/**
 * The one connection on which this process hears that one of its claims was admitted, on a channel of its own, and that holds were evicted,
 * on a channel of all. The first claim that must wait, or that holds for a while, opens it, and it ends when there has been none for a while:
 * up to version 18 the server wakes every session that listens at every message. Once it listens, it wakes all of these claims: they look
 * whether they missed a message.
 */
export class Mailbox {
  /** Random: nobody can guess it, so nobody else listens. */
  channel: string;
  readonly #dial: Dial | { readonly listen: Listen };
  readonly #sessionPooler: boolean;
  readonly #clock: Clock;
  /** The claims that wait, and the holds that are to hear of their eviction. */
  readonly #waiting: BufferedClaims;
  readonly #evictions: string;
  #link: { end(): Promise<void> } | undefined;
  #stopLooking: Cancel = () => {};
  #idleLooks = 0;
  #opening: Promise<void> | undefined;
  #again: Cancel = () => {};
  #failures = 0;
  #tests: (() => void)[] = [];
  #closed = false;

  /**
   * @param dial how to connect, or how the client of the application listens by itself
   * @param evictions the channel that tells of evictions
   * @param sessionPooler a pooler in between pools whole sessions
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

  /** Listens, if it does not. Resolves after one try, whether or not it succeeded. */
  open(): Promise<void> {
    this.#idleLooks = 0; // a claim is about to wait
    if (this.#link || this.#closed) return Promise.resolve();
    this.#opening ??= this.#listen()
      .catch(() => this.#retry())
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  /** Whether what `send` sends to the channel arrives here within a second. */
  async test(send: (channel: string) => Promise<unknown>): Promise<boolean> {
    await this.open();
    if (!this.#link) return false;
    const { promise: heard, resolve } = Promise.withResolvers<boolean>();
    const cancel = this.#clock.after(TEST_MS, () => resolve(false));
    this.#tests.push(() => resolve(true));
    await send(this.channel);
    return heard.finally(cancel);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#again();
    await this.#opening;
    await this.#stop();
  }

  async #listen(): Promise<void> {
    this.#again();
    const wakeAll = (): void => this.#waiting.wakeAll();
    const channels = [this.channel, this.#evictions] as const;
    const hear = (channel: string, payload: string): void =>
      channel === this.#evictions ? this.#wakeHolders(payload) : this.#deliver(payload);
    if (typeof this.#dial !== 'function') {
      const { listen } = this.#dial;
      // postgres.js (3.4) answers the same channel with the same failure for ever.
      const link = await listenBy(listen, channels, hear, wakeAll).catch((error) => {
        this.channel = `holdfast_${this.#clock.id()}`;
        throw error;
      });
      return this.#keep(link);
    }
    const session = await Session.open(this.#dial, this.#clock, this.#sessionPooler);
    if (!(await listens(session, channels, hear))) return this.#retry(MAX_RETRY_MS);
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
    this.#again = this.#clock.after(pause, () => this.open(), true);
  }

  /** @param payload the key of which somebody was evicted, in hex */
  #wakeHolders(payload: string): void {
    const evicted = Buffer.from(payload, 'hex').toString();
    this.#waiting.wakeAll(({ key }) => key === evicted);
  }

  /** @param payload `token id` of the claim that was admitted; a key in hex, for which a value was stored; empty: a test */
  #deliver(payload: string): void {
    if (payload === '') for (const passed of this.#tests.splice(0)) passed();
    const [token, id] = payload.split(' ');
    const waiter = id === undefined ? undefined : this.#waiting.addressee(id);
    // Good for the whole ttl from the last attempt, since the time of the hold began later, at the admission.
    waiter?.wake({ granted: true, token: BigInt(token!), validFor: waiter.claim.ttl });
    if (id === undefined) this.#waiting.wakeAnswerable(Buffer.from(payload, 'hex').toString());
  }
}

type Hear = (channel: string, payload: string) => void;

/** Lets a session listen. @returns false if a pooler is in between: the session has ended then */
async function listens(session: Session, channels: readonly string[], hear: Hear): Promise<boolean> {
  if (!(await session.isOwn())) {
    // A pooler gives this session to others in a moment. LISTEN would go on for them, and hold up the server's queue of messages.
    await session.end();
    return false;
  }
  session.onNotification(({ channel, payload = '' }) => hear(channel, payload));
  try {
    for (const text of [NAME, ...channels.map((channel) => `LISTEN "${channel}"`)]) await session.query(text);
    return true;
  } catch (error) {
    session.cut();
    throw error;
  }
}

/** The client connects again by itself, and says so by `onListening`. */
async function listenBy(
  listen: Listen,
  [own, evictions]: readonly [string, string],
  hear: Hear,
  onListening: () => void,
): Promise<{ end(): Promise<void> }> {
  const stop = await listen(own, (payload) => hear(own, payload), onListening);
  // Without this channel a holder learns of its eviction at its next renewal.
  const hearing = listen(evictions, (payload) => hear(evictions, payload), onListening);
  const stopHearing = await hearing.catch(() => () => {});
  return { end: async () => void (await Promise.allSettled([stop(), stopHearing()])) };
}
