import type { Claim, Wake } from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';
import { leftIn } from '../shared/record.ts';
import { MailboxClaims } from '../shared/waiting-claims.ts';
import { slotOf } from './keys.ts';
import { Mailbox, type MailboxNeeds } from './mailbox.ts';
import type { Listening, Port } from './port.ts';
import type { Shards } from './shards.ts';
import { readLeft, readMail } from './wire.ts';

/** The place of the mailbox, if the process needs only one. */
const ANYWHERE = '';
/** The number of names that are tried until one lies in a slot of the wanted server. */
const NAMES = 20_000;
/**
 * The mailboxes in which the grants of this process arrive. One channel on one connection serves all keys of one server. An ordinary
 * message in a Cluster goes over its bus to every node, so each hand-over would cost as many messages as there are nodes. There the process
 * has a sharded channel at each primary on whose keys it waits, and only that primary and its replicas pass on its messages. Sharded
 * messages: https://redis.io/docs/latest/develop/pubsub/#sharded-pubsub
 */
export class WakeUps {
  readonly #prefix: string;
  readonly #port: Port;
  readonly #shards: Shards;
  readonly #clock: Clock;
  readonly #waiting: MailboxClaims;
  /** The mailboxes by server, each with the last key that was asked for there, and whether the last proof was not heard. */
  readonly #mailboxes = new Map<string, { readonly mailbox: Mailbox; key: string; unheard: boolean }>();
  #ordinary: string | undefined;

  constructor(prefix: string, port: Port, shards: Shards, clock: Clock) {
    this.#prefix = prefix;
    this.#port = port;
    this.#shards = shards;
    this.#clock = clock;
    this.#waiting = new MailboxClaims(clock);
    if (port.cluster && !port.listenAt) this.#ordinary = 'this version of the client library cannot listen to them';
  }

  /** The reason why ordinary messages are used in a Cluster; undefined if sharded ones are, or if there is one server. */
  get whyOrdinary(): string | undefined {
    return this.#ordinary;
  }

  /**
   * Gives the channel on which a claim wants its grant. A ? before it says that a missing listener proves nothing: the channel is not open,
   * or may be open on another node. If the key has another server since the claim was watched, its channel there is opened.
   */
  channelOf({ key, id }: Claim): string {
    const mailbox = this.#mailboxOf(key);
    if (!mailbox.isOpen && this.#waiting.has(id)) mailbox.listen().catch(() => {}); // the next attempt tries again
    return mailbox.isOpen && !this.#port.cluster ? mailbox.channel : `?${mailbox.channel}`;
  }

  /** Watches at once where the channel is open. It rejects where the channel cannot be opened now; the claim is polled then. */
  watch(claim: Claim, wake: Wake, age?: number): AsyncDisposable | Promise<AsyncDisposable> {
    if (this.#mailboxOf(claim.key).isOpen) return this.#waiting.watchSince(claim, wake, age);
    return this.listen(claim.key).then(() => this.#waiting.watch(claim, wake));
  }

  /** Resolves when the channel for a key is open. */
  async listen(key: string): Promise<void> {
    const mailbox = this.#mailboxOf(key);
    await mailbox.listen().catch((error: unknown) => {
      // In the meantime sharded messages were found to be impossible, and another mailbox serves this key.
      const other = this.#mailboxOf(key);
      if (other === mailbox) throw error;
      return other.listen();
    });
  }

  close(): void {
    this.#waiting.clear();
    for (const { mailbox } of this.#mailboxes.values()) mailbox.close();
  }

  #placeOf(key: string): string {
    return this.#ordinary !== undefined ? ANYWHERE : this.#port.nodeOf(this.#shards.slotOf(key));
  }

  #mailboxOf(key: string): Mailbox {
    const place = this.#port.cluster ? this.#placeOf(key) : ANYWHERE;
    let known = this.#mailboxes.get(place);
    if (!known) {
      const needs = place === ANYWHERE ? this.#everywhere() : this.#shard(place);
      known = { mailbox: new Mailbox(needs, this.#clock), key, unheard: false };
      this.#mailboxes.set(place, known);
    }
    known.key = key;
    return known.mailbox;
  }

  #everywhere(): MailboxNeeds {
    // The number tells the scripts of every version what mail is read here: see `tell` in lua/include/line.lua.
    const name = `${this.#prefix}:mail:2:${this.#clock.id()}`;
    return {
      channel: () => name,
      listen: (channel, heard, lost) => this.#port.listen(channel, heard, lost),
      onConnection: this.#port.onConnection,
      isWanted: () => this.#waiting.size > 0,
      wakeAll: () => this.#waiting.wakeAll(),
      deliver: (message) => this.#deliver(message),
    };
  }

  #shard(place: string): MailboxNeeds {
    const name = `${this.#prefix}:mail:3:${this.#clock.id()}`;
    const here = (claim: { readonly key: string }): boolean => this.#placeOf(claim.key) === place;
    let tried = 0;
    return {
      // Gives a name whose slot this server has. The next name has another slot, since that of the last one may have moved.
      channel: () => {
        for (const end = tried + NAMES; tried < end; ) {
          const channel = `${name}:${tried++}`;
          if (this.#port.nodeOf(slotOf(channel)) === place) return channel;
        }
        return name;
      },
      listen: (channel, heard, lost) => this.#listenToShard(place, channel, heard, lost),
      isWanted: () => [...this.#waiting.values()].some(({ claim }) => here(claim)),
      wakeAll: () => this.#waiting.wakeAll(here),
      deliver: (message) => this.#deliver(message),
    };
  }

  #listenToShard(place: string, channel: string, heard: (message: string) => void, lost: () => void): Listening {
    const known = this.#mailboxes.get(place)!;
    const key = this.#shards.keyOf(known.key);
    let over = false;
    let hangUp = (): void => {};
    const open = async (): Promise<void> => {
      const { Impossible, shardedChannel, Unheard } = await import('./sharded-channel.ts'); // most servers are no Cluster
      if (over) return;
      const listening = shardedChannel(this.#port, channel, key, heard, lost, this.#clock);
      hangUp = listening.hangUp;
      await listening.ready.catch((error: unknown) => {
        const again = error instanceof Unheard && !known.unheard;
        known.unheard = error instanceof Unheard;
        if (error instanceof Impossible && !again) this.#useOrdinary(error.message);
        throw error;
      });
    };
    return {
      ready: open(),
      hangUp() {
        over = true;
        hangUp();
      },
    };
  }

  #useOrdinary(why: string): void {
    if (this.#ordinary !== undefined) return;
    this.#ordinary = why;
    for (const { mailbox } of this.#mailboxes.values()) mailbox.close();
    this.#mailboxes.clear();
    this.#waiting.wakeAll();
  }

  #deliver(message: string): void {
    const leftMail = readLeft(message);
    const asker = leftMail && this.#waiting.addressee(leftMail.id);
    // The message may have lain unread for long, while this process stood still.
    const time = asker && this.#shards.clockOf(asker.claim.key).in(0);
    asker?.wake(undefined, leftIn(leftMail?.words, time ?? Number.POSITIVE_INFINITY));
    const mail = readMail(message);
    const waiter = mail && this.#waiting.addressee(mail.id);
    if (waiter) waiter.wake({ granted: true, token: mail.token, tokenCount: mail.tokenCount, validFor: mail.validFor });
  }
}
