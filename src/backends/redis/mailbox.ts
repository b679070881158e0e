import type { Cancel, Clock } from '../../core/contract/clock.ts';
import type { Listening, Port } from './port.ts';

/** The longest time that a connection may take to subscribe, ms. */
const PATIENCE = 5_000;
/** The pause after the first failed try, ms. Each later one is twice as long, up to the last, until a connection stands for that long. */
const FIRST_PAUSE = 50;
const LAST_PAUSE = 2_000;

/** What a mailbox needs of the engine around it. */
export interface MailboxNeeds {
  /** Gives a name for the channel: another one at each call, if names have to fit a server. */
  channel(): string;
  /** Opens one more connection, which listens to that channel. */
  listen(channel: string, heard: (message: string) => void, lost: () => void): Listening;
  /** Calls back at each new connection of the client, where that can lead to another server. */
  onConnection?: Port['onConnection'];
  /** Whether a claim waits for what this mailbox hears. */
  isWanted(): boolean;
  /** Gives every claim that waits here a turn to ask. */
  wakeAll(): void;
  deliver(message: string): void;
}

/**
 * A channel on a connection of its own. It is opened when the first claim waits for its turn, and again if it is lost while a claim waits.
 * Each time all claims are woken once, since they missed the messages until then.
 */
export class Mailbox {
  readonly #needs: MailboxNeeds;
  readonly #clock: Clock;
  /** The name of its channel. After a loss it may be another one. */
  channel: string;
  /** Whether it hears the messages of that channel. */
  isOpen = false;
  #listening: Listening | undefined;
  #opening: Promise<void> | undefined;
  #giveUp: ((reason: Error) => void) | undefined;
  #openedAt = 0;
  #pause = FIRST_PAUSE;
  #cancelPause: Cancel | undefined;
  /** The try after the pause, if somebody asks for it in the meantime. */
  #next: PromiseWithResolvers<void> | undefined;
  #unlisten: (() => void) | undefined;
  #closed = false;

  constructor(needs: MailboxNeeds, clock: Clock) {
    this.#needs = needs;
    this.#clock = clock;
    this.channel = needs.channel();
  }

  close(): void {
    this.#closed = true;
    this.#unlisten?.();
    this.#cancelPause?.();
    this.isOpen = false;
    this.#listening?.hangUp();
    this.#next?.reject(new Error('closed'));
    this.#giveUp?.(new Error('closed')); // not every client reports that a connection was ended while it was being opened
  }

  /** Resolves when the channel is open. One try serves all claims that ask during it, or in the pause before it. */
  listen(): Promise<void> {
    if (this.isOpen) return Promise.resolve();
    if (this.#closed) return Promise.reject(new Error('closed'));
    if (this.#cancelPause) {
      // This is not refused, since a claim that begins to wait now would hear nothing until it asks the engine again.
      this.#next ??= Promise.withResolvers();
      return this.#next.promise;
    }
    this.#opening ??= this.#try().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #try(): Promise<void> {
    const attempt = this.#needs.listen(
      this.channel,
      (message) => this.#needs.deliver(message),
      () => this.#onLoss(attempt),
    );
    this.#listening = attempt;
    let cancel: Cancel = () => {};
    const givenUp = new Promise<never>((_, reject) => {
      this.#giveUp = reject;
      cancel = this.#clock.after(PATIENCE, () => reject(new Error(`not subscribed within ${PATIENCE} ms`)), true);
    });
    try {
      await Promise.race([attempt.ready, givenUp]);
      if (this.#listening !== attempt || this.#closed) throw new Error('lost before it was used');
    } catch (error) {
      attempt.hangUp();
      this.#retryLater();
      throw error;
    } finally {
      cancel();
    }
    this.isOpen = true;
    this.#openedAt = this.#clock.now();
    // A name or an address that moved may have led the client to another server; this connection would stay at the old one.
    this.#unlisten ??= this.#needs.onConnection?.(() => this.#listening && this.#onLoss(this.#listening));
    this.#needs.wakeAll();
  }

  #onLoss(listening: Listening): void {
    if (this.#listening !== listening) return;
    this.#listening = undefined;
    if (!this.isOpen) {
      // The try fails at once: the end of a connection does not always settle what was sent on it (node-redis).
      this.#giveUp?.(new Error('the listening connection was lost as it opened'));
      return;
    }
    this.isOpen = false;
    // A connection that is lost again and again, as by a proxy, must not wake all who wait each time at once.
    if (this.#clock.now() - this.#openedAt >= LAST_PAUSE) this.#pause = FIRST_PAUSE;
    listening.hangUp();
    this.#retryLater();
  }

  #retryLater(): void {
    if (this.#closed) return;
    this.channel = this.#needs.channel();
    const pause = this.#pause * (0.5 + this.#clock.random() / 2);
    this.#pause = Math.min(this.#pause * 2, LAST_PAUSE);
    this.#cancelPause = this.#clock.after(
      pause,
      () => {
        this.#cancelPause = undefined;
        const next = this.#next;
        this.#next = undefined;
        if (next || this.#needs.isWanted()) this.listen().then(next?.resolve, next?.reject ?? (() => {}));
      },
      true,
    );
  }
}
