import { once } from 'node:events';
import { connect, createServer, type Server as Listener } from 'node:net';
import { type Direction, Link, type Mode, type Trap, type Weather } from './link.ts';
import { freePort, giveBack, HOST } from './net.ts';

/** Listens on a port of its own, for `target`, a port on loopback. */
export async function startProxy(target: number): Promise<FaultProxy> {
  const proxy = new FaultProxy(await freePort(), target);
  await proxy.pass();
  return proxy;
}

const PASS: Mode = { kind: 'pass' };

/**
 * A link to a server that misbehaves on demand. It never duplicates or reorders bytes: TCP would not. A mode holds for all
 * connections, open and new, in the directions named (both, if none is), until the next one; `pass` ends all of them.
 */
export class FaultProxy implements AsyncDisposable {
  readonly host = HOST;
  readonly port: number;
  /** Where new connections lead, as behind a name that moves; those that are open stay where they are. */
  target: number;
  /** Bytes that came through, and that were swallowed, per direction. */
  readonly passed: Record<Direction, number> = { up: 0, down: 0 };
  readonly dropped: Record<Direction, number> = { up: 0, down: 0 };
  /** Connections accepted so far. */
  connections = 0;
  readonly #modes: Record<Direction, Mode> = { up: PASS, down: PASS };
  readonly #traps = new Set<Trap>();
  readonly #links = new Set<Link>();
  #listener?: Listener;

  /** Use `startProxy`. */
  constructor(port: number, target: number) {
    this.port = port;
    this.target = target;
  }

  /** Connections open now. */
  get open(): number {
    return this.#links.size;
  }

  /** Back to normal: what was delayed or stalled arrives, new connections are accepted again. */
  async pass(): Promise<void> {
    this.#set(PASS);
    if (!this.#listener) await this.#listen();
  }

  /** Bytes arrive `ms` later. A round trip takes twice that, unless one direction is named. */
  delay(ms: number, ...directions: Direction[]): void {
    this.#set({ kind: 'delay', ms }, directions);
  }

  /** Nothing is read, nothing is lost: `stall('down')` holds replies back until `pass`. */
  stall(...directions: Direction[]): void {
    this.#set({ kind: 'stall' }, directions);
  }

  /** Bytes vanish; the connection stays open. */
  blackhole(...directions: Direction[]): void {
    this.#set({ kind: 'blackhole' }, directions);
  }

  /** New connections are refused. Open ones stay: see `cut`. */
  refuse(): void {
    this.#listener?.close();
    this.#listener = undefined;
  }

  /** Resets all connections, now. New ones are accepted. */
  cut(): void {
    for (const link of this.#links) link.cut();
  }

  /**
   * The next request that contains `match` never reaches the server: its connection is reset instead. Resolves when that
   * has happened. What was sent together with it is lost too.
   */
  cutBefore(match: string | Uint8Array): Promise<void> {
    return this.#trap(match, false);
  }

  /**
   * The next request that contains `match` reaches the server; its reply does not come back: the connection is reset when
   * the reply is here (or after 1 s without any). Resolves when that has happened.
   */
  cutAfter(match: string | Uint8Array): Promise<void> {
    return this.#trap(match, true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#listener && once(this.#listener, 'close');
    this.refuse();
    this.cut();
    await closed;
    giveBack(this.port);
  }

  #trap(match: string | Uint8Array, forward: boolean): Promise<void> {
    return new Promise((sprung) => this.#traps.add({ match: Buffer.from(match), forward, sprung }));
  }

  #set(mode: Mode, directions: readonly Direction[] = []): void {
    for (const direction of directions.length > 0 ? directions : (['up', 'down'] as const)) {
      this.#modes[direction] = mode;
    }
    for (const link of this.#links) link.modeChanged();
  }

  async #listen(): Promise<void> {
    const weather: Weather = { modes: this.#modes, traps: this.#traps, passed: this.passed, dropped: this.dropped };
    const options = { noDelay: true, allowHalfOpen: true };
    const listener = createServer(options, (client) => {
      this.connections++;
      const server = connect({ ...options, port: this.target, host: HOST });
      const link: Link = new Link(client, server, weather, () => this.#links.delete(link));
      this.#links.add(link);
    });
    this.#listener = listener;
    listener.listen(this.port, HOST);
    await once(listener, 'listening');
  }
}
