import type { Cancel, Claim, Clock, Wake } from '../../core/index.ts';
import { MailboxClaims } from '../shared/waiting-claims.ts';
import type { Listen } from './clients.ts';
import type { Dial } from './pool.ts';
import { Session } from './session.ts';

/** ms before the connection is tried again: at first, and at most. Waiters poll meanwhile. */
const RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;
/** ms that a test message may take. */
const TEST_MS = 1_000;

/**
 * The one channel on which this process hears that one of its claims was admitted. The first claim that must wait opens the
 * connection: a process that never meets another needs none. Once it listens, it wakes all waiters: they look whether they missed
 * a message.
 */
export class Mailbox {
  /** Random: nobody can guess it, so nobody else listens. */
  channel: string;
  readonly #dial: Dial | { readonly listen: Listen };
  readonly #sessionPooler: boolean;
  readonly #clock: Clock;
  readonly #waiting: MailboxClaims;
  #link: { end(): Promise<void> } | undefined;
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
    if (this.#link || this.#closed) return Promise.resolve();
    this.#opening ??= this.#listen().finally(() => {
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
    await this.#link?.end();
  }

  async #listen(): Promise<void> {
    this.#again();
    try {
      if (typeof this.#dial === 'function') await this.#dialAndListen(this.#dial);
      else await this.#listenBy(this.#dial.listen);
    } catch {
      this.#retry();
    }
  }

  async #dialAndListen(dial: Dial): Promise<void> {
    const session = await Session.open(dial, this.#clock, this.#sessionPooler);
    if (!(await session.isOwn())) {
      // A pooler gives this session to others in a moment. LISTEN would go on for them, and hold up the server's queue of messages.
      await session.end();
      return this.#retry(MAX_RETRY_MS);
    }
    session.onNotification(({ payload }) => this.#deliver(payload ?? ''));
    await session.query(`LISTEN "${this.channel}"`).catch((error) => {
      session.cut();
      throw error;
    });
    if (session.ended.aborted) return this.#retry();
    this.#link = session;
    this.#failures = 0;
    session.ended.addEventListener('abort', () => {
      this.#link = undefined;
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
      this.#link = { end: async () => void (await Promise.resolve(stop()).catch(() => {})) };
      this.#failures = 0;
    } catch (error) {
      // postgres.js (3.4) answers the same channel with the same failure for ever.
      this.channel = `holdfast_${this.#clock.id()}`;
      throw error;
    }
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
