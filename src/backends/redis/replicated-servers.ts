import type { Clock } from '../../core/contract/clock.ts';
import { CallTimeouts } from '../../core/engine/call-timeouts.ts';
import type { Traffic } from './command-batcher.ts';
import { ended, isReply } from './errors.ts';
import type { OwnConnection, Port } from './port.ts';
import type { Script } from './scripts.generated.ts';
import { type Request, repliesTo, type Shards } from './shards.ts';

export interface Acknowledgement {
  /** Replicas that must have a grant before it is shown. */
  readonly count: number;
  /** ms they have for it. */
  readonly within: number;
}

/** A connection that says nothing for so long after its replicas should have answered is given up. ms. */
const SILENCE = 1_500;

interface ReplicaConnection {
  readonly opening: Promise<OwnConnection>;
  readonly end: AbortController;
}

/**
 * Asks on connections set aside for it, one per server, and waits there for replicas: WAIT counts only what its own
 * connection wrote, and holds up whatever comes behind it there. A connection is never mended: on a new connection WAIT would
 * know nothing of the writes before, and be content.
 */
export class ReplicatedServers implements Traffic {
  commands = 0;
  readonly #port: Port;
  readonly #shards: Shards;
  readonly #wanted: Acknowledgement;
  readonly #timeouts: CallTimeouts;
  readonly #connections = new Map<string, ReplicaConnection>();
  #closed = false;

  constructor(port: Port, shards: Shards, wanted: Acknowledgement, clock: Clock) {
    this.#port = port;
    this.#shards = shards;
    this.#wanted = wanted;
    this.#timeouts = new CallTimeouts(clock);
  }

  /** How many replicas each grant waits for. */
  get count(): number {
    return this.#wanted.count;
  }

  /**
   * The answers; instead of each that something is held, an error, when too few replicas have it. Rejects when a server or
   * its connection did not do its part.
   */
  async ask(script: Script, requests: readonly Request[]): Promise<unknown[]> {
    if (this.#port.ended) throw ended(); // a connection goes on, and what is taken over it could not be released
    const slot = this.#shards.slotOf(requests[0]!.key);
    const node = this.#port.nodeOf(slot);
    let connection = this.#connections.get(node);
    if (!connection) {
      if (this.#closed) throw new Error('closed');
      connection = this.#open(node, slot);
    }
    const patience = this.#wanted.within + SILENCE;
    const late = (): Error => new Error(`no answer within ${patience} ms`);
    this.commands++;
    try {
      return await this.#timeouts.bound(this.#askOn(connection.opening, script, requests), patience, late);
    } catch (error) {
      if (isReply(error, 'NOPERM')) throw error; // the refusal is about a key, not about the connection
      this.#forget(node, connection);
      connection.end.abort();
      // The client learns from its own commands only where a slot was moved to, and who holds may send none.
      if (isReply(error, 'MOVED')) this.#shards.find(requests[0]!).catch(() => {});
      throw error;
    } finally {
      this.commands--;
    }
  }

  #open(node: string, slot: number): ReplicaConnection {
    const end = new AbortController();
    // A server ends a connection that is long idle (its `timeout`), which should cost the next who asks nothing.
    const opening = this.#port.ownConnection(slot, end.signal, () => this.#forget(node, connection));
    const connection: ReplicaConnection = { opening, end };
    this.#connections.set(node, connection);
    return connection;
  }

  #forget(node: string, connection: ReplicaConnection): void {
    if (this.#connections.get(node) === connection) this.#connections.delete(node);
  }

  async askOne(script: Script, request: Request): Promise<unknown> {
    const [answer] = await this.ask(script, [request]);
    return answer;
  }

  async #askOn(opening: Promise<OwnConnection>, script: Script, requests: readonly Request[]): Promise<unknown[]> {
    const connection = await opening;
    const { keys, args } = this.#shards.wire(requests);
    const wait = (): Promise<unknown> =>
      connection.command('WAIT', [], `${this.#wanted.count}`, `${this.#wanted.within}`);
    // The client sends both commands before the server answers either.
    const both = (reply: Promise<unknown>): Promise<[unknown, unknown]> => Promise.all([reply, wait()]);
    const [replies, count] = await both(connection.evalSha(script.sha1, keys, args)).catch((error) => {
      if (!isReply(error, 'NOSCRIPT')) throw error;
      return both(connection.eval(script.text, keys, args));
    });
    const tooFew = `! ${TOO_FEW} ${count} of the ${this.#wanted.count} replicas have it after ${this.#wanted.within} ms`;
    const answers = repliesTo(requests, replies);
    if (Number(count) >= this.#wanted.count) return answers;
    return answers.map((reply) => (isHeld(reply) ? tooFew : reply));
  }

  close(): void {
    this.#closed = true;
    for (const { end } of this.#connections.values()) end.abort();
    this.#connections.clear();
    this.#timeouts.endTimers();
  }
}

const TOO_FEW = 'REPLICAS';

/** Of lua/attempt.lua a ticket or, below zero, the time; of lua/renew.lua a 1. Not a refusal, lateness (-1), nor an error. */
const isHeld = (reply: unknown): boolean => /^(?:-\d)?[1-9]/.test(String(reply));

/** Tells whether the server granted the hold but too few replicas have it, so that the caller must give it back. */
export const isTooFew = (error: unknown): boolean => isReply(error, TOO_FEW);
