import { type Clock, isLockError, LockError, type Run } from '../../core/index.ts';
import { ServerClock } from '../shared/server-clock.ts';
import { closedError, isReply, meaning } from './errors.ts';
import { slotOf } from './keys.ts';
import type { Port } from './port.ts';
import type { Script } from './scripts.generated.ts';

/** The server, or the servers of a Cluster, as one. */
export class Server {
  commands = 0;
  /** How often the client may have sent a request twice: ioredis sends again what a lost connection did not answer. */
  resends = 0;
  readonly port: Port;
  readonly #unlisten: (() => void) | undefined;

  constructor(port: Port) {
    this.port = port;
    this.#unlisten = port.onResend?.(() => this.resends++);
  }

  /** Runs a script by its hash; where the server does not know it (restart, fail-over, SCRIPT FLUSH), by its text. */
  async run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    if (this.port.ended) throw closedError();
    this.commands++;
    try {
      const reply = await this.port.evalSha(script.sha1, keys, args);
      // It will be done when the transaction is, if ever.
      if (!Array.isArray(reply) && String(reply) === 'QUEUED')
        throw new Error('the client is in MULTI; give redis() a client of its own');
      return reply;
    } catch (error) {
      if (!isReply(error, 'NOSCRIPT')) throw error;
    } finally {
      this.commands--;
    }
    return this.port.eval(script.text, keys, args);
  }

  command(act: string, name: string, keys: readonly string[], ...args: string[]): Promise<unknown> {
    const reply = this.port.ended ? Promise.reject(closedError()) : this.port.command(name, keys, ...args);
    return reply.catch((error) => {
      throw meaning(error, act);
    });
  }

  /**
   * Gives the answer to a request that does nothing a second time.
   * @param did whether it did something, by this answer
   * @throws Error where it may have done it the first time: that is unknown
   */
  async once<T>(ask: () => Promise<T>, did: (answer: T) => boolean): Promise<T> {
    const { resends } = this;
    const answer = await ask();
    return resends === this.resends || did(answer) ? answer : unknownEffect();
  }

  close(): void {
    this.#unlisten?.();
  }
}

/** Such a server, or a Cluster, with the keys and the clocks that locks have there. */
export abstract class KeyedServer extends Server {
  readonly clock: Clock;
  /** The clock of the server, unless this is a Cluster. */
  readonly #serverClock: ServerClock;
  readonly #clockOf = new Map<string, ServerClock>();

  constructor(port: Port, clock: Clock) {
    super(port);
    this.clock = clock;
    this.#serverClock = new ServerClock(clock);
  }

  abstract keyOf(key: string): string;

  slotOf(key: string): number {
    return slotOf(this.port.keyPrefix + this.keyOf(key));
  }

  /** Gives the group of a request. One script may answer the requests of one group. Undefined means that it may answer any. */
  get groupOf(): ((request: { readonly key: string }) => number) | undefined {
    return this.port.cluster ? ({ key }) => this.slotOf(key) : undefined;
  }

  /** Gives the clock of the server that has this key now: each server has its own. */
  clockOf(key: string): ServerClock {
    if (!this.port.cluster) return this.#serverClock;
    const node = this.port.nodeOf(this.slotOf(key));
    let clock = this.#clockOf.get(node);
    if (!clock) {
      clock = new ServerClock(this.clock);
      this.#clockOf.set(node, clock);
    }
    return clock;
  }
}

/** Says that a request was sent twice, and that the second answer does not tell what the first one did. */
export function unknownEffect(): never {
  throw new Error('the connection was lost and the client sent it again: nobody knows what it did the first time');
}

/** Asks for the run of the server, once for each connection: a server that starts again ends those it had. */
export class Incarnation {
  readonly #server: Server;
  #run: Run | undefined;
  #connection = 0;
  #unlisten: (() => void) | undefined;

  constructor(server: Server) {
    this.#server = server;
  }

  ask(): Run | Promise<Run> {
    return this.#run ?? this.#ask();
  }

  close(): void {
    this.#unlisten?.();
  }

  async #ask(): Promise<Run> {
    this.#unlisten ??= this.#server.port.onConnection?.(() => {
      this.#connection++;
      this.#run = undefined;
    });
    const connection = this.#connection;
    const info = await this.#info('server');
    const id = /^run_id:(\w+)/m.exec(info)?.[1];
    if (!id) throw new Error('INFO server names no run_id');
    // The uptime is the difference of two clocks in whole seconds, each up to one second behind.
    const seconds = Number(/^uptime_in_seconds:(\d+)/m.exec(info)?.[1] ?? 0);
    const run = { id, age: Math.max(0, seconds - 1) * 1_000, durable: await this.#isDurable() };
    if (connection === this.#connection) this.#run = run;
    return run;
  }

  /** Tells whether each write is on the disk before it is acknowledged. If the user may not ask for that, the answer is no. */
  async #isDurable(): Promise<boolean> {
    try {
      const reply = await this.#server.command('ask for its settings', 'CONFIG', [], 'GET', '*append*');
      const known = settingsOf(reply);
      const has = Object.entries(SYNCED).every(([name, value]) => known.get(name) === value);
      // While the file is rewritten, or written for the first time, not all of the data may be in it.
      return has && !/^aof_rewrite_(in_progress|scheduled):1\b/m.test(await this.#info('persistence'));
    } catch (error) {
      if (isLockError(error)) return false;
      throw error;
    }
  }

  async #info(section: string): Promise<string> {
    return String(await this.#server.command(`ask for INFO ${section}`, 'INFO', [], section));
  }
}

const SYNCED = { appendonly: 'yes', appendfsync: 'always', 'no-appendfsync-on-rewrite': 'no' };

/** Reads what the server sends as a map. Clients give it different shapes. */
export function settingsOf(reply: unknown): Map<string, string> {
  const pairs: (readonly [unknown, unknown])[] = Array.isArray(reply)
    ? reply.flatMap((name, i) => (i % 2 === 0 ? [[name, reply[i + 1]] as const] : []))
    : reply instanceof Map
      ? [...reply]
      : Object.entries(reply ?? {});
  return new Map(pairs.map(([name, value]) => [`${name}`, `${value}`]));
}

/**
 * Names a server that speaks the protocol, but on which our scripts do not lock: Dragonfly refuses a script the keys that the call did not
 * name, and runs another Lua. Undefined for Redis, Valkey, and a server that does not say.
 */
export function whyUnsupported(info: ReadonlyMap<string, string>): string | undefined {
  const version = info.get('dragonfly_version');
  return version === undefined ? undefined : `Dragonfly ${version}`;
}

export const fieldsOf = (info: string): Map<string, string> =>
  new Map(
    info
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );

/**
 * @param infos what the server answered, by several names
 * @throws LockError `LOCK_UNSUPPORTED`
 */
export function refuseUnsupported(infos: readonly string[]): void {
  const fields = infos.map(fieldsOf);
  const server = whyUnsupported(fields[0]!);
  if (server)
    refuse(`was given a client of ${server}, on which its scripts were never run. Use Redis 6.2 or newer, or Valkey`);
  // One script is about many keys, and such a proxy sends it where the first of them belongs.
  if (new Set(fields.map((field) => field.get('run_id'))).size > 1) {
    refuse(
      'was given a client of a proxy that spreads names over several servers (twemproxy, Envoy, the proxy of a Cluster). ' +
        'Connect to one server, or to the Cluster itself with a client of a Cluster',
    );
  }
}

function refuse(why: string): never {
  throw new LockError('LOCK_UNSUPPORTED', `redis() ${why}`, { backend: 'redis' });
}
