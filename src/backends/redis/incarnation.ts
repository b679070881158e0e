import type { Run } from '../../core/contract/backend.ts';
import { isLockError } from '../../core/contract/errors.ts';
import type { Port } from './port.ts';
import type { Server } from './shards.ts';

/** The part of a client that reports new connections. It is the same in both libraries. */
interface Connecting<E extends string> {
  on(event: E, listener: () => void): unknown;
  off(event: E, listener: () => void): unknown;
}

interface ClientListener {
  readonly callbacks: Set<() => void>;
  readonly tell: () => void;
}

/** The listener of each client, by event. If each backend added one of its own, Node would warn of a leak when many backends share a client. */
const listeners: Record<string, WeakMap<object, ClientListener>> = {};

/** Calls back at each event of a client: by default at each new connection. */
export function connections<E extends string = 'connect'>(
  client: Connecting<E>,
  again: () => void,
  event: E = 'connect' as E,
): () => void {
  listeners[event] ??= new WeakMap();
  const { callbacks, tell } = listeners[event].get(client) ?? listen(client, event);
  callbacks.add(again);
  return () => {
    if (!callbacks.delete(again) || callbacks.size > 0) return;
    client.off(event, tell);
    listeners[event]!.delete(client);
  };
}

function listen<E extends string>(client: Connecting<E>, event: E): ClientListener {
  const callbacks = new Set<() => void>();
  const tell = (): void => {
    for (const again of [...callbacks]) again();
  };
  client.on(event, tell);
  listeners[event]!.set(client, { callbacks, tell });
  return { callbacks, tell };
}

/** Asks for the run of the server, once for each connection: a server that starts again ends those it had. */
export class Incarnation {
  readonly #port: Port;
  readonly #server: Server;
  #run: Run | undefined;
  #connection = 0;
  #unlisten: (() => void) | undefined;

  constructor(port: Port, server: Server) {
    this.#port = port;
    this.#server = server;
  }

  ask(): Run | Promise<Run> {
    return this.#run ?? this.#ask();
  }

  close(): void {
    this.#unlisten?.();
  }

  async #ask(): Promise<Run> {
    this.#unlisten ??= this.#port.onConnection?.(() => {
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
      const has = Object.entries(SYNCED).every(([name, value]) => settings(reply).get(name) === value);
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
function settings(reply: unknown): Map<string, string> {
  if (reply instanceof Map) return new Map([...reply].map(([name, value]) => [`${name}`, `${value}`]));
  if (!Array.isArray(reply)) return new Map(Object.entries((reply as Record<string, string> | null) ?? {}));
  return new Map(reply.flatMap((name, i) => (i % 2 === 0 ? [[`${name}`, `${reply[i + 1]}`] as const] : [])));
}
