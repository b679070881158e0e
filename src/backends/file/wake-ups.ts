import { renameSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { resolve, sep } from 'node:path';
import { type Cancel, type Clock, withLimit } from '../../core/index.ts';
import {
  dial,
  isBeside,
  isPipe,
  makePrivate,
  probe,
  provesDeath,
  removeSocket,
  socketDirectory,
  socketName,
} from './sockets.ts';

/** How often in a row we connect again to a process if nothing proves that it is dead. After that, its claims end by expiry. */
const MAX_RETRIES = 5;
/** How long a process may take to send its last messages, and to listen on its socket after the socket has a name, ms. */
const MOMENT_MS = 200;
/** The first and the longest pause after a failed removal of the claims of a dead process, ms. The pause doubles. */
const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 1_000;
/** The longest message, bytes. */
const MAX_MESSAGE_BYTES = 4_096;

/** Says that a claim was admitted, with `token`, or evicted. */
export interface Message {
  readonly id: string;
  readonly token: number;
  readonly evicted?: boolean;
}

/** The socket on which other processes notify this one that its claims were admitted or evicted. Its name is never used twice. */
export class OwnSocket {
  /** The name as it is stored; '' if this process has no socket. */
  readonly name: string;
  readonly directory: string;
  readonly #server: Server | undefined;
  readonly #callers = new Set<Socket>();

  private constructor(directory: string, name: string, server?: Server) {
    this.directory = directory;
    this.name = name;
    this.#server = server;
  }

  /** Without a socket (no rights, or a path that is too long), nobody can notify this process: it asks by its own timer. */
  static async open(file: string, clock: Clock, onMessage: (message: Message) => void): Promise<OwnSocket> {
    const directory = socketDirectory(file);
    const [made, name] = [socketName(clock.id()), socketName(clock.id())];
    const server = createServer().unref();
    try {
      makePrivate(directory);
      // In a worker of node:cluster, a socket that is not exclusive listens in the primary process, and outlives the worker.
      const at = { path: resolve(directory, isPipe ? name : made), exclusive: true };
      await new Promise<void>((listening, failed) => {
        server.once('error', failed).listen(at, listening);
      });
      server.removeAllListeners('error');
      // When the process ends, Node removes the name that it made, and then nobody could see that the process is dead. So the name is changed.
      if (!isPipe) renameSync(at.path, resolve(directory, name));
      const own = new OwnSocket(directory, isBeside(directory, file) ? name : resolve(directory, name), server);
      server.on('connection', (socket) => own.#listen(socket, onMessage)).on('error', () => {});
      return own;
    } catch {
      server.close();
      return new OwnSocket(directory, '');
    }
  }

  /** Removes the name first, so that nobody takes this process for dead. Claims that it could not release expire. */
  close(): void {
    if (this.#server) removeSocket(resolve(this.directory, this.name));
    this.#server?.close();
    for (const caller of this.#callers) caller.destroy();
  }

  #listen(caller: Socket, onMessage: (message: Message) => void): void {
    this.#callers.add(caller);
    let text = '';
    caller
      .unref()
      .setEncoding('utf8')
      .on('error', () => {})
      .once('close', () => this.#callers.delete(caller))
      .on('data', (chunk: string) => {
        const lines = (text + chunk).split('\n');
        text = lines.pop()!;
        if (text.length > MAX_MESSAGE_BYTES) caller.destroy();
        for (const line of lines) {
          const message = read(line);
          if (message) onMessage(message);
          else caller.destroy();
        }
      });
  }
}

function read(line: string): Message | undefined {
  try {
    const { id, token, evicted = false } = JSON.parse(line) as Partial<Message>;
    if (typeof id === 'string' && Number.isSafeInteger(token)) return { id, token: token!, evicted };
  } catch {} // the line is no message of ours
  return undefined;
}

export interface PeerEvents {
  /** A claim of this process was admitted, or evicted. */
  onMessage(message: Message): void;
  /** A connection to another process has ended. Perhaps that process admitted a claim, and its message did not come. */
  onDisconnect(): Promise<void>;
  /** The process with this name is dead. */
  onDeath(peer: string): Promise<void>;
}

/**
 * The sockets of the processes that share a locks file. A process that notifies another process, or waits behind it, keeps a connection to
 * it. If the connection ends and nobody listens at that socket any more, the other process is dead. A process id would prove less: another
 * process may have this id by now. A process that is only stopped still listens.
 */
export class Peers {
  /** The name of this process. */
  readonly name: string;
  readonly #own: OwnSocket;
  readonly #clock: Clock;
  readonly #events: PeerEvents;
  readonly #links = new Map<string, Socket>();
  readonly #pauses = new Set<Cancel>();
  #closed = false;

  constructor(own: OwnSocket, clock: Clock, events: PeerEvents) {
    this.name = own.name;
    this.#own = own;
    this.#clock = clock;
    this.#events = events;
  }

  /** Sends a message as soon as there is a connection. The message is lost only if the other process dies. */
  notify(peer: string, message: Message): void {
    if (peer !== '' && !this.#closed) this.#link(peer).write(`${JSON.stringify(message)}\n`);
  }

  /** From now on the death of that process is reported. */
  watch(peer: string): void {
    if (peer !== this.name && !this.#closed) this.#link(peer);
  }

  /** Removes the claims and the sockets of processes that died while nobody watched them. */
  async tidy(): Promise<void> {
    const entries = this.name === '' || isPipe ? [] : await readdir(this.#own.directory).catch(() => []);
    for (const entry of entries) {
      const peer = this.name.includes(sep) ? this.#path(entry) : entry;
      if (peer === this.name) continue;
      // Each process is asked twice: a process whose socket has a name, but does not listen yet, seems dead.
      this.#ifDead(peer, () =>
        this.#clock.after(MOMENT_MS, () => this.#ifDead(peer, () => this.#removeDead(peer)), true),
      );
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of this.#pauses) cancel();
    this.#own.close();
    const links = [...this.#links.values()];
    const sent = links.map((link) => new Promise((closed) => link.once('close', closed).destroySoon()));
    await withLimit(Promise.all(sent), MOMENT_MS, Error, this.#clock).catch(() => {});
    for (const link of links) link.destroy();
  }

  #link(peer: string, attempts = 0): Socket {
    const known = this.#links.get(peer);
    if (known) return known;
    let connected = false;
    const link = dial(
      this.#path(peer),
      () => {
        connected = true;
      },
      (trouble) => {
        this.#links.delete(peer);
        if (this.#closed) return;
        if (connected) this.#events.onDisconnect().catch(() => {}); // core also asks by its own timer
        if (provesDeath(trouble, peer)) this.#removeDead(peer);
        else if (attempts < MAX_RETRIES) this.#link(peer, attempts + 1); // a process that dies just now resets the connection
      },
    );
    this.#links.set(peer, link);
    return link;
  }

  #ifDead(peer: string, act: () => void): void {
    if (this.#closed) return;
    probe(this.#path(peer), (trouble) => {
      if (provesDeath(trouble, peer)) act();
    });
  }

  /**
   * Removes the socket last: while it exists, processes that come later also see that its process is dead. The removal of the claims fails
   * when the file stays busy, or the disk is full. It is repeated, since a waiter notices the death of a process only once.
   */
  #removeDead(peer: string, pause = MIN_PAUSE_MS): void {
    if (this.#closed) return;
    this.#events.onDeath(peer).then(
      () => removeSocket(this.#path(peer)),
      () => {
        const again = (): void => {
          this.#pauses.delete(cancel);
          this.#removeDead(peer, Math.min(2 * pause, MAX_PAUSE_MS));
        };
        const cancel = this.#clock.after(pause, again, true);
        this.#pauses.add(cancel);
        if (this.#closed) cancel();
      },
    );
  }

  #path(peer: string): string {
    return resolve(this.#own.directory, peer);
  }
}
