import type { Claim, Grant } from '../../core/contract/backend.ts';
import type { Cancel, Clock } from '../../core/contract/clock.ts';
import { WaitingClaims } from '../shared/waiting-claims.ts';
import type { Listening, Port } from './port.ts';
import { readMail } from './wire.ts';

type Wake = (grant?: Grant) => void;

/** Longest time a connection may take to be subscribed. ms. */
const PATIENCE = 5_000;
/** Pauses between failed tries: the first, doubled up to the last. ms. */
const FIRST_PAUSE = 50;
const LAST_PAUSE = 2_000;

/**
 * Where the grants of this process arrive: one channel with a random name on one connection of its own, for all keys. It is
 * opened when the first claim wants to hear of its turn, and again, while any does, whenever it is lost; after that everyone
 * is woken once, since what was told meanwhile went unheard.
 */
export class Mailbox {
  readonly #channel: string;
  readonly #doubtful: string;
  readonly #port: Port;
  readonly #clock: Clock;
  readonly #waiting = new WaitingClaims();
  #listening: Listening | undefined;
  #open = false;
  #opening: Promise<void> | undefined;
  #giveUp: ((reason: Error) => void) | undefined;
  #pause = FIRST_PAUSE;
  #cancelPause: Cancel | undefined;
  /** Of the try after the pause, where somebody asks for it meanwhile. */
  #next: PromiseWithResolvers<void> | undefined;
  #unlisten: (() => void) | undefined;
  #closed = false;

  constructor(prefix: string, port: Port, clock: Clock) {
    // The number tells the scripts of every version what mail is read here: see `tell` in lua/include/line.lua.
    this.#channel = `${prefix}:mail:2:${clock.id()}`;
    this.#doubtful = `?${this.#channel}`;
    this.#port = port;
    this.#clock = clock;
  }

  /**
   * What a claim says of where to tell its grant: to be unheard there proves nothing while the channel is not open, or where
   * it may be open on another node.
   */
  get channel(): string {
    return this.#open && !this.#port.cluster ? this.#channel : this.#doubtful;
  }

  /** At once where the channel is open. Rejects where it cannot be opened now; the claim is polled then. */
  watch(claim: Claim, wake: Wake): AsyncDisposable | Promise<AsyncDisposable> {
    if (this.#open) return this.#waiting.watch(claim, wake);
    return this.listen().then(() => this.#waiting.watch(claim, wake));
  }

  close(): void {
    this.#closed = true;
    this.#unlisten?.();
    this.#waiting.clear();
    this.#cancelPause?.();
    this.#open = false;
    this.#listening?.hangUp();
    this.#next?.reject(new Error('closed'));
    this.#giveUp?.(new Error('closed')); // not every client says of a connection in the making that it was ended
  }

  /** Resolves when the channel is open; one try serves all who ask meanwhile, in the pause before it too. */
  listen(): Promise<void> {
    if (this.#open) return Promise.resolve();
    if (this.#closed) return Promise.reject(new Error('closed'));
    if (this.#cancelPause) {
      // Not refused: who begins to wait now would be deaf until it asks the engine again.
      this.#next ??= Promise.withResolvers();
      return this.#next.promise;
    }
    this.#opening ??= this.#try().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #try(): Promise<void> {
    const attempt = this.#port.listen(
      this.#channel,
      (message) => this.#deliver(message),
      () => this.#lost(attempt),
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
    this.#open = true;
    this.#pause = FIRST_PAUSE;
    // The client may have been led to another server by a name or an address that moved; this connection would stay behind.
    this.#unlisten ??= this.#port.connected?.(() => this.#listening && this.#lost(this.#listening));
    this.#waiting.wakeAll();
  }

  #lost(listening: Listening): void {
    if (this.#listening !== listening) return;
    this.#listening = undefined;
    if (!this.#open) {
      // At once: what was sent on it is not always answered by its end (node-redis).
      this.#giveUp?.(new Error('the listening connection was lost as it opened'));
      return;
    }
    this.#open = false;
    listening.hangUp();
    this.#retryLater();
  }

  #retryLater(): void {
    if (this.#closed) return;
    const pause = this.#pause * (0.5 + this.#clock.random() / 2);
    this.#pause = Math.min(this.#pause * 2, LAST_PAUSE);
    this.#cancelPause = this.#clock.after(
      pause,
      () => {
        this.#cancelPause = undefined;
        const next = this.#next;
        this.#next = undefined;
        if (next || this.#waiting.size > 0) this.listen().then(next?.resolve, next?.reject ?? (() => {}));
      },
      true,
    );
  }

  #deliver(message: string): void {
    const mail = readMail(message);
    const waiter = mail && this.#waiting.get(mail.id);
    if (waiter) waiter.wake({ granted: true, ticket: mail.ticket, span: mail.span, validFor: mail.validFor });
  }
}
