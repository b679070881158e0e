import type { Engine } from './engine.ts';
import type { Port } from './port.ts';

/** What tells of new connections, alike in both libraries. */
interface Connecting {
  on(event: 'connect', listener: () => void): unknown;
  off(event: 'connect', listener: () => void): unknown;
}

export function connections(client: Connecting, again: () => void): () => void {
  client.on('connect', again);
  return () => client.off('connect', again);
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
