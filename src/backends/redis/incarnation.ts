import type { Engine } from './engine.ts';
import type { Port } from './port.ts';

/** What tells of new connections, alike in both libraries. */
interface Connecting {
  on(event: 'connect', listener: () => void): unknown;
  off(event: 'connect', listener: () => void): unknown;
}

interface Listened {
  readonly callbacks: Set<() => void>;
  readonly tell: () => void;
}

/** By client: with a listener for each backend, Node would warn of a leak where many share one. */
const listened = new WeakMap<Connecting, Listened>();

export function connections(client: Connecting, again: () => void): () => void {
  const { callbacks, tell } = listened.get(client) ?? listen(client);
  callbacks.add(again);
  return () => {
    if (!callbacks.delete(again) || callbacks.size > 0) return;
    client.off('connect', tell);
    listened.delete(client);
  };
}

function listen(client: Connecting): Listened {
  const callbacks = new Set<() => void>();
  const tell = (): void => {
    for (const again of [...callbacks]) again();
  };
  client.on('connect', tell);
  listened.set(client, { callbacks, tell });
  return { callbacks, tell };
}

/** The run id of the server, asked once for each connection: a server that starts again ends those it had. */
export class Incarnation {
  readonly #port: Port;
  readonly #engine: Engine;
  #id: string | undefined;
  #connection = 0;
  #unlisten: (() => void) | undefined;

  constructor(port: Port, engine: Engine) {
    this.#port = port;
    this.#engine = engine;
  }

  ask(): string | Promise<string> {
    return this.#id ?? this.#ask();
  }

  close(): void {
    this.#unlisten?.();
  }

  async #ask(): Promise<string> {
    this.#unlisten ??= this.#port.connected?.(() => {
      this.#connection++;
      this.#id = undefined;
    });
    const connection = this.#connection;
    const info = String(await this.#engine.command('ask its run id', 'INFO', [], 'server'));
    const id = /^run_id:(\w+)/m.exec(info)?.[1];
    if (!id) throw new Error('INFO server names no run_id');
    if (connection === this.#connection) this.#id = id;
    return id;
  }
}
