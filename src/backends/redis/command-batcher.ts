import { isReply } from './errors.ts';
import type { Script } from './scripts.generated.ts';

/** The number of commands to have under way at once: the server works on one while the client reads and writes the others. */
const MAX_COMMANDS = 3;

/** The key and the arguments of one request. One script may answer many requests. */
export interface Request {
  readonly key: string;
  readonly args: readonly string[];
}

/** The servers that run scripts. Each error is a rejection; no method throws. */
export interface ScriptServers {
  /** The number of commands that are under way, of all senders. */
  readonly commands: number;
  askOne(script: Script, request: Request): Promise<unknown>;
  /** Runs one script for all these requests, and gives one reply per request. */
  ask(script: Script, requests: readonly Request[]): Promise<unknown[]>;
}

interface PendingRequest extends Request {
  resolve(reply: unknown): void;
  reject(error: unknown): void;
}

/**
 * Collects the requests of one turn of the event loop and sends them in few commands, since a command costs client and server many times what a lock
 * costs. A request waits at most for the end of its turn. It is sent at once if hardly any other request would share its command: no command is
 * under way, or only one is and the last flush had one request.
 */
export class CommandBatcher {
  #pending: PendingRequest[] = [];
  /** Whether the last flush had several requests. */
  #hadSeveral = false;
  readonly #most: number;
  readonly #servers: ScriptServers;
  readonly #script: Script;
  readonly #groupOf: ((request: Request) => number) | undefined;

  /**
   * @param most the largest number of requests in one command
   * @param groupOf gives the group of a request: one command has requests of one group. Undefined if all may go together
   */
  constructor(most: number, servers: ScriptServers, script: Script, groupOf?: (request: Request) => number) {
    this.#most = most;
    this.#servers = servers;
    this.#script = script;
    this.#groupOf = groupOf;
  }

  ask(request: Request): Promise<unknown> {
    if (this.#pending.length === 0 && this.#servers.commands <= (this.#hadSeveral ? 0 : 1))
      return this.#servers.askOne(this.#script, request);
    return new Promise((resolve, reject) => {
      this.#pending.push({ ...request, resolve, reject });
      // `nextTick` runs the flush after all calls that the last reply caused.
      if (this.#pending.length === 1) process.nextTick(this.#flush);
    });
  }

  readonly #flush = (): void => {
    const asked = this.#pending;
    this.#pending = [];
    this.#hadSeveral = asked.length > 1;
    const share = shareOf(asked.length, this.#servers.commands, this.#most);
    for (const part of parts(asked, share, this.#groupOf)) {
      this.#replies(part).then(
        (replies) => {
          for (const [i, { resolve }] of part.entries()) resolve(replies[i]);
        },
        (error) => {
          for (const { reject } of part) reject(error);
        },
      );
    }
  };

  #replies(part: readonly Request[]): Promise<unknown[]> {
    return this.#servers.ask(this.#script, part).catch((error) => {
      if (part.length === 1 || !isReply(error, 'NOPERM')) throw error;
      // If this user may not name one of the keys, the server refuses the whole script. So each request is sent alone.
      return Promise.all(
        part.map((request) => this.#servers.askOne(this.#script, request).catch((why: Error) => `! ${why.message}`)),
      );
    });
  }
}

/**
 * Gives how many of `count` requests go into one command. With one command for all, client and server would wait for each other. With a few commands,
 * the server works on one while the client handles the answer to another.
 */
export function shareOf(count: number, underWay: number, most: number): number {
  const free = Math.max(1, MAX_COMMANDS - underWay);
  return Math.min(most, Math.ceil(count / free));
}

/** Splits `all`, in order, into parts of at most `most` items of one group. */
export function parts<T>(all: T[], most: number, groupOf?: (one: T) => number): T[][] {
  if (all.length === 1) return [all];
  const groups = groupOf ? Map.groupBy(all, groupOf).values() : [all];
  return [...groups].flatMap((group) => {
    if (group.length <= most) return [group];
    return Array.from({ length: Math.ceil(group.length / most) }, (_, i) => group.slice(i * most, (i + 1) * most));
  });
}
