import type { Claim, Wake } from '../../core/index.ts';
import { leftIn } from '../shared/record.ts';
import { BufferedClaims } from '../shared/waiting-claims.ts';
import { Channel, type ChannelNeeds, Impossible, shardedChannel, Unheard } from './channel.ts';
import { type Listening, type Port, slotOf } from './port.ts';
import type { Shards } from './server.ts';
import { readMessage } from './wire.ts';

/** The place of the channel, if the process needs only one. */
const ANYWHERE = '';
/** The number of names that are tried until one lies in a slot of the wanted server. */
const MAX_NAMES = 20_000;
/**
 * The channels on which the grants and the evictions of this process arrive. One on one connection serves all keys of one server. An ordinary
 * message in a Cluster goes over its bus to every node, so each hand-over would cost as many messages as there are nodes. There the process
 * has a sharded channel at each primary on whose keys it waits, or which it has held for a while, and only that primary and its replicas pass on its messages. Sharded
 * messages: https://redis.io/docs/latest/develop/pubsub/#sharded-pubsub
 */
export class WakeUps {
  readonly #shards: Shards;
  readonly #port: Port;
  /** The claims that wait, and the holds that are to hear of their eviction. */
  readonly #waiting: BufferedClaims;
  /** The channels by server, each with the last key that was asked for there, and whether the last proof was not heard. */
  readonly #channels = new Map<string, { readonly channel: Channel; key: string; unheard: boolean }>();
  /** The reason why ordinary messages are used in a Cluster; undefined if sharded ones are, or if there is one server. */
  whyOrdinary: string | undefined;
  #isSharded: boolean;

  constructor(shards: Shards) {
    this.#shards = shards;
    this.#port = shards.port;
    this.#waiting = new BufferedClaims(shards.clock);
    this.#isSharded = this.#port.cluster && this.#port.listenAt !== undefined;
    if (this.#port.cluster && !this.#isSharded)
      this.whyOrdinary = 'this version of the client library cannot listen to them';
  }

  /**
   * Gives the channel on which a claim wants its grant, behind a sign: `!` where it is open at the one server, `?` where a missing listener
   * proves nothing, since it is not open or may be open at another node, `*` for a sharded one. If the key has another server since the claim
   * was watched, its channel there is opened.
   */
  channelOf({ key, id }: Claim): string {
    const channel = this.#channelAt(key);
    if (!channel.isOpen && this.#waiting.has(id)) channel.listen().catch(() => {}); // the next attempt tries again
    const sign = this.#isSharded ? '*' : channel.isOpen && !this.#port.cluster ? '!' : '?';
    return sign + channel.name;
  }

  /** Watches at once where the channel is open. It rejects where the channel cannot be opened now; the claim is polled then. */
  watch(claim: Claim, wake: Wake, age?: number): AsyncDisposable | Promise<AsyncDisposable> {
    if (this.#channelAt(claim.key).isOpen) return this.#waiting.watchSince(claim, wake, age);
    return this.listen(claim.key).then(() => this.#waiting.watch(claim, wake));
  }

  /** Resolves when the channel for a key is open. */
  async listen(key: string): Promise<void> {
    const channel = this.#channelAt(key);
    await channel.listen().catch((error: unknown) => {
      // In the meantime sharded messages were found to be impossible, and another channel serves this key.
      const other = this.#channelAt(key);
      if (other === channel) throw error;
      return other.listen();
    });
  }

  close(): void {
    this.#waiting.clear();
    for (const { channel } of this.#channels.values()) channel.close();
  }

  #channelAt(key: string): Channel {
    const place = this.#isSharded ? this.#shards.nodeOf(key) : ANYWHERE;
    let known = this.#channels.get(place);
    if (!known) {
      const needs = place === ANYWHERE ? this.#everywhere() : this.#shard(place);
      known = { channel: new Channel(needs, this.#shards.clock), key, unheard: false };
      this.#channels.set(place, known);
    }
    known.key = key;
    return known.channel;
  }

  #everywhere(): ChannelNeeds {
    const name = `${this.#shards.prefix}:wake:${this.#shards.clock.id()}`;
    return {
      name: () => name,
      listen: (channel, heard, lost) => this.#port.listen(channel, heard, lost),
      onConnection: this.#port.onConnection,
      isWanted: () => this.#waiting.size > 0,
      wakeAll: () => this.#waiting.wakeAll(),
      deliver: (message) => this.#deliver(message),
    };
  }

  #shard(place: string): ChannelNeeds {
    const name = `${this.#shards.prefix}:wake:${this.#shards.clock.id()}`;
    const here = (claim: { readonly key: string }): boolean => this.#shards.nodeOf(claim.key) === place;
    let tried = 0;
    return {
      // Gives a name whose slot this server has. The next name has another slot, since that of the last one may have moved.
      name: () => {
        for (const end = tried + MAX_NAMES; tried < end; ) {
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
    const known = this.#channels.get(place)!;
    const key = this.#shards.keyOf(known.key);
    const { ready, hangUp } = shardedChannel(this.#port, channel, key, heard, lost, this.#shards.clock);
    const judge = (error: unknown): never => {
      const again = error instanceof Unheard && !known.unheard;
      known.unheard = error instanceof Unheard;
      if (error instanceof Impossible && !again) this.#useOrdinary(error.message);
      throw error;
    };
    return { ready: ready.catch(judge), hangUp };
  }

  #useOrdinary(why: string): void {
    if (!this.#isSharded) return;
    this.#isSharded = false;
    this.whyOrdinary = why;
    for (const { channel } of this.#channels.values()) channel.close();
    this.#channels.clear();
    this.#waiting.wakeAll();
  }

  #deliver(text: string): void {
    const message = readMessage(text);
    const waiter = message && this.#waiting.addressee(message.id);
    if (!waiter) return;
    if ('evicted' in message) waiter.wake();
    else if ('grant' in message) waiter.wake(message.grant);
    else {
      // The message may have lain unread for long, while this process stood still.
      const time = this.#shards.clocks.of(waiter.claim.key).in(0);
      waiter.wake(undefined, leftIn(message.value, time ?? Number.POSITIVE_INFINITY));
    }
  }
}
