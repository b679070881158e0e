import { isLockError, LockError, type Run } from '../../core/index.ts';
import type { Port } from './port.ts';

/** The part of `Server` that asks a server about itself. */
interface AskedServer {
  readonly port: Port;
  command(act: string, name: string, keys: readonly string[], ...args: string[]): Promise<unknown>;
}

/** Asks once per connection which run of the server this is: a server that restarts ends its connections. */
export class Incarnation {
  readonly #server: AskedServer;
  #run: Run | undefined;
  #connection = 0;
  #unlisten: (() => void) | undefined;

  constructor(server: AskedServer) {
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
    // The uptime is the difference of two times that were cut to whole seconds, so it may be up to 1 s too large.
    const seconds = Number(/^uptime_in_seconds:(\d+)/m.exec(info)?.[1] ?? 0);
    const run = { id, age: Math.max(0, seconds - 1) * 1_000, durable: await this.#isDurable() };
    if (connection !== this.#connection) return this.ask(); // the answers may be of two runs
    this.#run = run;
    return run;
  }

  /** Whether each write is on the disk before it is acknowledged. False if the user has no right to ask. */
  async #isDurable(): Promise<boolean> {
    try {
      const reply = await this.#server.command('ask for its settings', 'CONFIG', [], 'GET', '*append*');
      const known = settingsOf(reply);
      const has = Object.entries(SYNCED).every(([name, value]) => known.get(name) === value);
      // During a rewrite of the append-only file, and before its first one is complete, the file may lack some data.
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

/** Reads a reply that is a map: clients give it as a list, a Map or an object. */
export function settingsOf(reply: unknown): Map<string, string> {
  const pairs: (readonly [unknown, unknown])[] = Array.isArray(reply)
    ? reply.flatMap((name, i) => (i % 2 === 0 ? [[name, reply[i + 1]] as const] : []))
    : reply instanceof Map
      ? [...reply]
      : Object.entries(reply ?? {});
  return new Map(pairs.map(([name, value]) => [`${name}`, `${value}`]));
}

/**
 * Names a server that speaks the protocol, but cannot run our scripts: Dragonfly lets a script use only the keys that the call named, and has another
 * Lua. Undefined for Redis, Valkey, and a server that does not say what it is.
 */
export function whyUnsupported(info: ReadonlyMap<string, string>): string | undefined {
  const version = info.get('dragonfly_version');
  return version === undefined ? undefined : `Dragonfly ${version}`;
}

export const fieldsOf = (info: string): Map<string, string> =>
  new Map(Array.from(info.matchAll(/^([^:\r\n]+):(.*)\r?$/gm), ([, name, value]) => [name!, value!]));

/**
 * @param infos the answers to INFO, asked by several names of a lock
 * @throws LockError `LOCK_UNSUPPORTED`
 */
export function refuseUnsupported(infos: readonly string[]): void {
  const fields = infos.map(fieldsOf);
  const server = whyUnsupported(fields[0]!);
  if (server)
    refuse(`was given a client of ${server}, on which its scripts were never run. Use Redis 6.2 or newer, or Valkey`);
  // Several `run_id`s mean a proxy, which would send a script about many keys to the server of the first key.
  if (new Set(fields.map((field) => field.get('run_id'))).size > 1)
    refuse(
      'was given a client of a proxy that spreads names over several servers (such as twemproxy or Envoy). ' +
        'Connect to one server, or to a Cluster with its own client',
    );
}

function refuse(why: string): never {
  throw new LockError('LOCK_UNSUPPORTED', `redis() ${why}`, { backend: 'redis' });
}

/** How many names to ask by. A proxy that spreads names over servers leads all of them to one server at most once in 30,000 times. */
const PROBED_NAMES = 16;
const WHICH = "return redis.call('INFO', 'server')";

/** Asks for INFO by several names of a lock. The answers differ if a proxy spreads names over servers. */
export const infosOf = (port: Port, nameOf: (end: string) => string): Promise<string[]> =>
  Promise.all(Array.from({ length: PROBED_NAMES }, (_, i) => infoOf(port, nameOf(`:${i}`))));

/**
 * Asks by a script, since some proxies (twemproxy) end a connection at INFO, and ioredis would send INFO again for ever. If a server does not let
 * scripts ask, there is no such proxy, and a plain INFO is safe.
 */
async function infoOf(port: Port, key: string): Promise<string> {
  const info = port.eval(WHICH, [key], []).catch((error: Error) => {
    if (!/not allowed from script/i.test(error.message)) throw error;
    return port.command('INFO', [], 'server');
  });
  return String(await info);
}
