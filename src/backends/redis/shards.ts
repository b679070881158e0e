import type { Clock } from '../../core/contract/clock.ts';
import { ServerClock } from '../shared/server-clock.ts';
import { lockOf, named } from './keys.ts';
import type { Port } from './port.ts';
import type { Script } from './scripts.generated.ts';
import type { Server } from './server.ts';
import { slotOf } from './slot.ts';

/** What one key is asked in a script that answers many. */
export interface Request {
  readonly key: string;
  readonly args: readonly string[];
}

/** A script for many answers a lone request by itself. */
export const perRequest = (requests: readonly Request[], reply: unknown): unknown[] =>
  requests.length === 1 ? [reply] : (reply as unknown[]);

/** The server, or the servers of a Cluster: what may be asked together, and whose clock answers. */
export class Shards {
  readonly #port: Port;
  readonly #server: Server;
  readonly #prefix: string;
  readonly #clock: Clock;
  /** Where there is one server. */
  readonly #serverClock: ServerClock;
  readonly #clockOf = new Map<string, ServerClock>();

  constructor(port: Port, server: Server, prefix: string, clock: Clock) {
    this.#port = port;
    this.#server = server;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#serverClock = new ServerClock(clock);
  }

  /** Requests that one script may answer have this in common; undefined where any may. */
  get groupOf(): ((request: { readonly key: string }) => number) | undefined {
    return this.#port.cluster ? ({ key }) => this.slotOf(key) : undefined;
  }

  /** The clock of the server that has this key now: each server has its own. */
  clockOf(key: string): ServerClock {
    if (!this.#port.cluster) return this.#serverClock;
    const node = this.#port.nodeOf(this.slotOf(key));
    let clock = this.#clockOf.get(node);
    if (!clock) {
      clock = new ServerClock(this.#clock);
      this.#clockOf.set(node, clock);
    }
    return clock;
  }

  slotOf(key: string): number {
    return slotOf(this.#port.keyPrefix + lockOf(this.#prefix, key));
  }

  /** What a script for many takes for these. */
  wire(requests: readonly Request[]): { keys: readonly string[]; args: string[] } {
    const locks = requests.map(({ key }) => lockOf(this.#prefix, key));
    return { keys: named(locks, this.#port.cluster), args: requests.flatMap(({ args }) => args) };
  }

  /** An answer per request, of a script for many. */
  async ask(script: Script, requests: readonly Request[]): Promise<unknown[]> {
    const { keys, args } = this.wire(requests);
    return perRequest(requests, await this.#server.run(script, keys, args));
  }

  /** The answer of a script for one. */
  askOne(script: Script, { key, args }: Request): Promise<unknown> {
    return this.#server.run(script, named([lockOf(this.#prefix, key)], this.#port.cluster), args);
  }

  /** Has the client find the server that has this key by now. */
  find({ key }: Request): Promise<unknown> {
    return this.#port.command('GET', [lockOf(this.#prefix, key)]);
  }

  /** In a Cluster silence is an answer too, after `patience` ms: a node that hangs holds nobody else up. */
  async within(patience: number, answers: Promise<unknown[]>): Promise<unknown[]> {
    if (!this.#port.cluster) return answers;
    let cancel = (): void => {};
    const silence = new Promise<unknown[]>((resolve) => {
      cancel = this.#clock.after(patience, () => resolve([]));
    });
    try {
      return await Promise.race([answers, silence]);
    } finally {
      cancel();
    }
  }
}
