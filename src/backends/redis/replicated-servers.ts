import { type Backend, CallTimeouts, type Clock, KeyedSerializer } from '../../core/index.ts';
import type { Request, ScriptServers } from './command-batcher.ts';
import { closedError, isReply } from './errors.ts';
import type { Acknowledgement } from './options.ts';
import type { OwnConnection } from './port.ts';
import type { Script } from './scripts.generated.ts';
import { repliesTo, type Shards } from './server.ts';

/** How long a connection may be silent after the time for its replicas is over, ms. Then it is ended. */
const SILENCE_MS = 1_500;

interface ReplicaConnection {
  readonly opening: Promise<OwnConnection>;
  readonly end: AbortController;
}

/**
 * Asks over connections of its own, one per server, and waits for the replicas with WAIT. WAIT is only about writes of the same connection, and delays
 * all later commands on it. The connections never reconnect: on a new one, WAIT would report success although the replicas lack the earlier writes.
 */
export class ReplicatedServers implements ScriptServers {
  commands = 0;
  readonly #shards: Shards;
  readonly #wanted: Acknowledgement;
  readonly #timeouts: CallTimeouts;
  readonly #connections = new Map<string, ReplicaConnection>();
  #closed = false;

  constructor(shards: Shards, wanted: Acknowledgement) {
    this.#shards = shards;
    this.#wanted = wanted;
    this.#timeouts = new CallTimeouts(shards.clock);
  }

  get count(): number {
    return this.#wanted.count;
  }

  /** Gives one answer per request. If too few replicas have a hold, its answer is an error. Rejects when a server or its connection fails. */
  async ask(script: Script, requests: readonly Request[]): Promise<unknown[]> {
    if (this.#shards.port.ended) throw closedError(); // our own connection works on, but the ended client could not release the hold
    const slot = this.#shards.slotOf(requests[0]!.key);
    const node = this.#shards.port.nodeOf(slot);
    let connection = this.#connections.get(node);
    if (!connection) {
      if (this.#closed) throw new Error('closed');
      connection = this.#open(node, slot);
    }
    const timeout = this.#wanted.within + SILENCE_MS;
    const late = (): Error => new Error(`no answer within ${timeout} ms`);
    this.commands++;
    try {
      return await this.#timeouts.bound(this.#askOn(connection.opening, script, requests), timeout, late);
    } catch (error) {
      if (isReply(error, 'NOPERM')) throw error; // the refusal is about a key, not about the connection
      this.#forget(node, connection);
      connection.end.abort();
      // The client learns only from its own commands where a slot has moved. A process that only renews sends no
      // command over the client. So `find` sends one.
      if (isReply(error, 'MOVED')) this.#shards.find(requests[0]!).catch(() => {});
      throw error;
    } finally {
      this.commands--;
    }
  }

  #open(node: string, slot: number): ReplicaConnection {
    const end = new AbortController();
    // A server may end an idle connection (its setting `timeout`). Then the next request opens a new one.
    const opening = this.#shards.port.ownConnection(slot, end.signal, () => this.#forget(node, connection));
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

/** Whether a reply says that something is held: a token (`attempt`) or a 1 (`renew`). A refusal (0), a late claim (-1) and an error say no. */
const isHeld = (reply: unknown): boolean => /^[1-9]/.test(String(reply));

/** Whether the server granted the hold but too few replicas have it, so that the caller must release it. */
export const isTooFew = (error: unknown): boolean => isReply(error, TOO_FEW);

/**
 * Makes the attempts of each claim one after the other. What too few replicas have is given back over another connection than the attempt: that
 * release must not free a later attempt.
 */
export function oneByOne(
  clock: Clock,
  attempt: (...sent: [...Parameters<Backend['attempt']>, number]) => ReturnType<Backend['attempt']>,
): Backend['attempt'] {
  const turns = new KeyedSerializer();
  return (claim) => {
    const sent = clock.now(); // an attempt whose turn comes too late is refused by the server
    return turns.take(claim.id, () => attempt(claim, sent));
  };
}
