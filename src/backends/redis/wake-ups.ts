import type { Claim, Wake } from '../../core/index.ts';
import { storedValueIn } from '../shared/record.ts';
import { BufferedClaims } from '../shared/waiting-claims.ts';
import { Channel, type ChannelNeeds, Impossible, shardedChannel, Undelivered } from './channel.ts';
import { type Listening, type Port, slotOf } from './port.ts';
import type { Shards } from './server.ts';
import { readMessage } from './wire.ts';

/** The key in `#channels` if one channel serves all servers. */
const ANY_NODE = '';
/** The most names that are tried to find one whose slot is at the wanted server. */
const MAX_NAMES = 20_000;

/**
 * The channels on which grants and evictions are sent to this process. With one server, one channel on one connection serves all keys. In a Cluster
 * an ordinary message goes to every node, so a hand-over would cost as many messages as there are nodes. So the process opens a sharded channel at
 * each primary that has a key for which it waits, or which it holds for long. Sharded messages go only to that primary and its replicas:
 * https://redis.io/docs/latest/develop/pubsub/#sharded-pubsub
 */
export class WakeUps {
  readonly #shards: Shards;
  readonly #port: Port;
  /** The waiting claims, and the holds that wait for a message of their eviction. */
  readonly #waiting: BufferedClaims;
  /** The channels by server. `key`: the last key used there. `undelivered`: the last probe on the channel did not arrive. */
  readonly #channels = new Map<string, { readonly channel: Channel; key: string; undelivered: boolean }>();
  /** Why ordinary messages are used in a Cluster. Undefined if sharded messages are used, or if there is one server. */
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
   * Gives the channel on which a claim wants its grant, with a sign before it. `!`: the channel is open at the only server. `*`: it is sharded. `?`:
   * it is not open yet, or may be open at another node. Then a server that counts no listener must not assume that the process is dead. If the key
   * has moved to another server since the claim was watched, opens the channel of that server.
   */
  channelOf({ key, id }: Claim): string {
    const channel = this.#channelAt(key);
    if (!channel.isOpen && this.#waiting.has(id)) channel.listen().catch(() => {}); // the next attempt tries again
    const sign = this.#isSharded ? '*' : channel.isOpen && !this.#port.cluster ? '!' : '?';
    return sign + channel.name;
  }

  /** Watches at once if the channel is open, else opens it first. Rejects if it does not open; core then calls again later. */
  watch(claim: Claim, wake: Wake, age?: number): AsyncDisposable | Promise<AsyncDisposable> {
    if (this.#channelAt(claim.key).isOpen) return this.#waiting.watchSince(claim, wake, age);
    return this.listen(claim.key).then(() => this.#waiting.watch(claim, wake));
  }

  /** Resolves when the channel for a key is open. */
  async listen(key: string): Promise<void> {
    const channel = this.#channelAt(key);
    await channel.listen().catch((error: unknown) => {
      // Meanwhile sharded messages may have proved impossible. Then another channel serves this key.
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
    const node = this.#isSharded ? this.#shards.nodeOf(key) : ANY_NODE;
    let known = this.#channels.get(node);
    if (!known) {
      known = { channel: new Channel(this.#needsAt(node), this.#shards.clock), key, undelivered: false };
      this.#channels.set(node, known);
    }
    known.key = key;
    return known.channel;
  }

  #needsAt(node: string): ChannelNeeds {
    const name = `${this.#shards.prefix}:wake:${this.#shards.clock.id()}`;
    const here = (claim: { readonly key: string }): boolean =>
      node === ANY_NODE || this.#shards.nodeOf(claim.key) === node;
    let tried = 0;
    return {
      // Gives a name whose slot is at this server, a new one at each call, since the slot of the last name may have moved.
      name: () => {
        for (const end = tried + MAX_NAMES; node !== ANY_NODE && tried < end; ) {
          const channel = `${name}:${tried++}`;
          if (this.#port.nodeOf(slotOf(channel)) === node) return channel;
        }
        return name;
      },
      listen: (...how) => (node === ANY_NODE ? this.#port.listen(...how) : this.#listenToShard(node, ...how)),
      onConnection: this.#port.onConnection,
      isWanted: () => [...this.#waiting.values()].some(({ claim }) => here(claim)),
      wakeAll: () => this.#waiting.wakeAll(here),
      deliver: (message) => this.#deliver(message),
    };
  }

  #listenToShard(node: string, channel: string, onMessage: (message: string) => void, lost: () => void): Listening {
    const known = this.#channels.get(node)!;
    const key = this.#shards.keyOf(known.key);
    const { ready, hangUp } = shardedChannel(this.#port, channel, key, onMessage, lost, this.#shards.clock);
    const judge = (error: unknown): never => {
      const again = error instanceof Undelivered && !known.undelivered;
      known.undelivered = error instanceof Undelivered;
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
      // If this process stood still, the value of an old message may have expired.
      const time = this.#shards.clocks.of(waiter.claim.key).in(0);
      waiter.wake(undefined, storedValueIn(message.value, time ?? Number.POSITIVE_INFINITY));
    }
  }
}
