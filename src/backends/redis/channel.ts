import { type Cancel, type Clock, withLimit } from '../../core/index.ts';
import { type Listening, type Port, slotOf } from './port.ts';

const SUBSCRIBE_TIMEOUT_MS = 5_000;
/** The pause after a failed try, ms. Each is twice as long as the last, up to MAX_PAUSE_MS. A connection that lasts MAX_PAUSE_MS ends that. */
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2_000;

export interface ChannelNeeds {
  /** Gives a name for the channel. If the name must belong to one server, each call gives a different name. */
  name(): string;
  listen(channel: string, onMessage: (message: string) => void, lost: () => void): Listening;
  /** Calls back at each new connection of the client. Undefined if a new connection cannot lead to another server. */
  onConnection?: Port['onConnection'];
  /** Whether a claim waits for messages of this channel. */
  isWanted(): boolean;
  /** Wakes every claim that waits here, so that it asks. */
  wakeAll(): void;
  deliver(message: string): void;
}

/**
 * A channel of messages on a connection of its own. The channel opens when the first claim waits, and again if the connection is lost while a claim
 * waits. Each opening wakes all its claims once, since they may have missed messages before.
 */
export class Channel {
  readonly #needs: ChannelNeeds;
  readonly #clock: Clock;
  /** The name now. It may change after a loss. */
  name: string;
  isOpen = false;
  #listening: Listening | undefined;
  #opening: Promise<void> | undefined;
  /** Ends the opening before its answer: it fails, or begins again. */
  #early: PromiseWithResolvers<'again'> | undefined;
  #openedAt = 0;
  #pause = MIN_PAUSE_MS;
  #cancelPause: Cancel | undefined;
  /** The promise of the try after the pause; undefined if no caller waits for it. */
  #next: PromiseWithResolvers<void> | undefined;
  #unlisten: (() => void) | undefined;
  #closed = false;

  constructor(needs: ChannelNeeds, clock: Clock) {
    this.#needs = needs;
    this.#clock = clock;
    this.name = needs.name();
  }

  close(): void {
    this.#closed = true;
    this.#unlisten?.();
    this.#cancelPause?.();
    this.isOpen = false;
    this.#listening?.hangUp();
    this.#next?.reject(new Error('closed'));
    this.#early?.reject(new Error('closed')); // not every client reports that a connection was ended while it was being opened
  }

  /** Resolves when the channel is open. One try serves all callers that ask during the try, or in the pause before it. */
  listen(): Promise<void> {
    if (this.isOpen) return Promise.resolve();
    if (this.#closed) return Promise.reject(new Error('closed'));
    if (this.#cancelPause) {
      // If this rejected, a claim that begins to wait now would get no notifications until it asks the engine again.
      this.#next ??= Promise.withResolvers();
      return this.#next.promise;
    }
    this.#opening ??= this.#try().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #try(): Promise<void> {
    // A new connection of the client may lead to another server at the same address. What is open, or being opened, would stay at the old one.
    this.#unlisten ??= this.#needs.onConnection?.(() =>
      this.isOpen ? this.#onLoss(this.#listening!) : this.#early?.resolve('again'),
    );
    const attempt = this.#needs.listen(
      this.name,
      (message) => this.#needs.deliver(message),
      () => this.#onLoss(attempt),
    );
    this.#listening = attempt;
    const early = Promise.withResolvers<'again'>();
    this.#early = early;
    let answer: unknown;
    const late = () => early.reject(new Error(`not subscribed within ${SUBSCRIBE_TIMEOUT_MS} ms`));
    const cancel = this.#clock.after(SUBSCRIBE_TIMEOUT_MS, late, true);
    try {
      answer = await Promise.race([attempt.ready, early.promise]);
      if (this.#listening !== attempt || this.#closed) throw new Error('lost before it was used');
    } catch (error) {
      attempt.hangUp();
      this.#retryLater();
      throw error;
    } finally {
      cancel();
    }
    if (answer === 'again') {
      attempt.hangUp();
      return this.#try();
    }
    this.isOpen = true;
    this.#openedAt = this.#clock.now();
    this.#needs.wakeAll();
  }

  #onLoss(listening: Listening): void {
    if (this.#listening !== listening) return;
    this.#listening = undefined;
    if (!this.isOpen) {
      // The try must fail here: when a connection ends, node-redis does not always settle what was sent on it.
      this.#early?.reject(new Error('the listening connection was lost as it opened'));
      return;
    }
    this.isOpen = false;
    // A proxy may end the connection again and again. Without the growing pause, each loss would wake all claims at once.
    if (this.#clock.now() - this.#openedAt >= MAX_PAUSE_MS) this.#pause = MIN_PAUSE_MS;
    listening.hangUp();
    this.#retryLater();
  }

  #retryLater(): void {
    if (this.#closed) return;
    this.name = this.#needs.name();
    const pause = this.#pause * (0.5 + this.#clock.random() / 2);
    this.#pause = Math.min(this.#pause * 2, MAX_PAUSE_MS);
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

/** The time in which a probe must arrive on the channel, ms. */
const PROOF_TIMEOUT_MS = 2_000;
const PROBE = 'probe';
/** Sends as `send` of lua/queue.lua does. The reply is the number of listeners at the server. */
const SEND = "return redis.call('SPUBLISH', ARGV[1], ARGV[2])";
/** The replies of a server that does not know the command, or does not let this user call it. */
export const REFUSED =
  /NOPERM|no permissions|unknown command|Unknown Redis command|ACL failure in script|can't run this command/i;

/** Says that this server, user or client cannot have the subscription. */
export class Impossible extends Error {}

/** Says that a probe did not arrive although the connection lasts. That does not prove that none can arrive: this process may have been paused. */
export class Undelivered extends Impossible {}

/**
 * Listens to a sharded channel, and sends a probe to it, as the scripts do. The probe shows whether the library delivers messages, and whether this
 * user has the rights.
 * @param key the key of a lock that the same server has
 */
export function shardedChannel(
  port: Port,
  channel: string,
  key: string,
  onMessage: (message: string) => void,
  lost: () => void,
  clock: Clock,
): Listening {
  const arrived = Promise.withResolvers<void>();
  arrived.promise.catch(() => {}); // the connection may end before anything waits for this
  const end = (): void => arrived.reject(new Error('the listening connection was lost'));
  const listening = port.listenAt!(
    slotOf(channel),
    channel,
    (message) => (message === PROBE ? arrived.resolve() : onMessage(message)),
    () => {
      end();
      lost();
    },
  );
  const prove = async (): Promise<void> => {
    await listening.ready;
    const listeners = Number(await port.eval(SEND, [key], [channel, PROBE]));
    if (listeners === 0) throw new Error('the server ended the subscription');
    const undelivered = (): Error => new Undelivered('the client library does not deliver them');
    await withLimit(arrived.promise, PROOF_TIMEOUT_MS, undelivered, clock);
  };
  const ready = prove().catch((error: Error) => {
    throw REFUSED.test(error.message) ? new Impossible(error.message) : error;
  });
  return {
    ready,
    hangUp() {
      end();
      listening.hangUp();
    },
  };
}
