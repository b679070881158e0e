import type { Cancel, Claim, Clock, Wake } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import { MailboxClaims } from '../shared/waiting-claims.ts';
import type { Listen } from './clients.ts';
import type { Dial } from './pool.ts';
import { Session } from './session.ts';

/** ms before the connection is tried again: at first, and at most. Waiters poll meanwhile. */
const RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;
/** ms that a test message may take. */
const TEST_MS = 1_000;
/** ms between two looks at whether any claim waits. After so many without one in a row, the process stops listening. */
export const IDLE_LOOK_MS = 10_000;
const MAX_IDLE_LOOKS = 3;

/** `check()` counts the sessions of all processes that listen, by this name. */
const NAME =
  "SELECT set_config('application_name', left(current_setting('application_name'), 40) || ' holdfast listens', false)";

/**
 * The one channel on which this process hears that one of its claims was admitted. The first claim that must wait opens the
 * connection, and it ends when none has waited for a while: up to version 18 the server wakes every session that listens at every
 * message. Once it listens, it wakes all waiters: they look whether they missed a message.
 */
export class Mailbox {
  /** Random: nobody can guess it, so nobody else listens. */
  channel: string;
  readonly #dial: Dial | { readonly listen: Listen };
  readonly #sessionPooler: boolean;
  readonly #clock: Clock;
  readonly #waiting: MailboxClaims;
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
   * @param sessionPooler a pooler in between pools whole sessions
   */
  constructor(dial: Dial | { readonly listen: Listen }, clock: Clock, sessionPooler = false) {
    this.#dial = dial;
    this.#sessionPooler = sessionPooler;
    this.#clock = clock;
    this.#waiting = new MailboxClaims(clock);
    this.channel = `holdfast_${clock.id()}`;
  }

  watch(claim: Claim, wake: Wake, age?: number): AsyncDisposable {
    return this.#waiting.watchSince(claim, wake, age);
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
    if (typeof this.#dial === 'function') await this.#dialAndListen(this.#dial);
    else await this.#listenBy(this.#dial.listen);
  }

  async #dialAndListen(dial: Dial): Promise<void> {
    const session = await Session.open(dial, this.#clock, this.#sessionPooler);
    if (!(await session.isOwn())) {
      // A pooler gives this session to others in a moment. LISTEN would go on for them, and hold up the server's queue of messages.
      await session.end();
      return this.#retry(MAX_RETRY_MS);
    }
    session.onNotification(({ payload }) => this.#deliver(payload ?? ''));
    try {
      for (const text of [NAME, `LISTEN "${this.channel}"`]) await session.query(text);
    } catch (error) {
      session.cut();
      throw error;
    }
    if (session.ended.aborted) return this.#retry();
    this.#keep(session);
    session.ended.addEventListener('abort', () => {
      if (this.#link !== session) return;
      void this.#stop();
      this.#retry();
    });
    this.#waiting.wakeAll();
  }

  /** The client connects again by itself, and says so. */
  async #listenBy(listen: Listen): Promise<void> {
    try {
      const stop = await listen(
        this.channel,
        (payload) => this.#deliver(payload),
        () => this.#waiting.wakeAll(),
      );
      this.#keep({ end: async () => void (await Promise.resolve(stop()).catch(() => {})) });
    } catch (error) {
      // postgres.js (3.4) answers the same channel with the same failure for ever.
      this.channel = `holdfast_${this.#clock.id()}`;
      throw error;
    }
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

  /** @param payload `token id` of the claim that was admitted; a key in hex, of which words were left; empty: a test */
  #deliver(payload: string): void {
    if (payload === '') for (const passed of this.#tests.splice(0)) passed();
    const [token, id] = payload.split(' ');
    const waiter = id === undefined ? undefined : this.#waiting.addressee(id);
    // Good for the whole ttl from the last attempt, since the time of the hold began later, at the admission.
    waiter?.wake({ granted: true, token: BigInt(token!), validFor: waiter.claim.ttl });
    if (id === undefined) this.#waiting.wakeAnswerable(Buffer.from(payload, 'hex').toString());
  }
}
