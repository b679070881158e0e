import { renameSync, unlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { resolve, sep } from 'node:path';
import type { Cancel, Clock } from '../../core/clock.ts';
import { isBeside, makePrivate, socketDirectory, socketName } from './sockets.ts';

/** On Windows a socket is a pipe, whose name goes with its process. */
const isPipe = process.platform === 'win32';
/** What says that nobody listens under a name any more. */
const DEAD = isPipe ? 'ENOENT' : 'ECONNREFUSED';
/** What says that nobody will ever listen under it. */
const GONE: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT']);
/** Connections in a row that end at once without a verdict, before a process is left to expiry. */
const TRIES = 5;
/** ms that farewells may take, and that a process may need from having a name to listening under it. */
const MOMENT = 200;
const LONGEST_MESSAGE = 4_096;
/** Pauses between tries to bury the dead, ms: the first, doubled up to the last. */
const FIRST_PAUSE = 10;
const LAST_PAUSE = 1_000;

export interface Message {
  readonly id: string;
  readonly ticket: number;
}

export interface Ear {
  heard(message: Message): void;
  /** A process that was there is gone, perhaps between admitting somebody and telling them. */
  parted(): Promise<void>;
  /** No process listens, or will ever listen, under this name. */
  died(bell: string): Promise<void>;
}

/**
 * The door-bells of the processes that share a locks file. Each has one socket, under a name that is never used twice.
 * Whoever rings another, or waits behind it, keeps a connection to it: if that ends and nobody listens there any more, the
 * process is dead. No process id is involved, so none can be mistaken; a process that is only stopped still listens.
 */
export class Bells {
  /** As it is stored: '' where this process has none. */
  readonly name: string;
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #ear: Ear;
  readonly #server: Server | undefined;
  readonly #links = new Map<string, Socket>();
  readonly #callers = new Set<Socket>();
  readonly #pauses = new Set<Cancel>();
  #closed = false;

  private constructor(directory: string, name: string, server: Server | undefined, clock: Clock, ear: Ear) {
    this.#directory = directory;
    this.name = name;
    this.#server = server;
    this.#clock = clock;
    this.#ear = ear;
    server?.on('connection', (socket) => this.#listen(socket)).on('error', () => {});
  }

  /** Without a socket (no rights, no room for its name) a process is not rung: it still asks by itself. */
  static async open(file: string, clock: Clock, ear: Ear): Promise<Bells> {
    const directory = socketDirectory(file);
    const [made, name] = [socketName(clock.id()), socketName(clock.id())];
    const server = createServer().unref();
    try {
      makePrivate(directory);
      // In a cluster it would listen in the primary, and outlive its process, unless it is its own.
      const at = { path: resolve(directory, isPipe ? name : made), exclusive: true };
      await new Promise<void>((listening, failed) => {
        server.once('error', failed).listen(at, listening);
      });
      server.removeAllListeners('error');
      // Node removes the name it made when it ends by itself, and then nobody could tell that it is dead.
      if (!isPipe) renameSync(at.path, resolve(directory, name));
      return new Bells(directory, isBeside(directory, file) ? name : resolve(directory, name), server, clock, ear);
    } catch {
      server.close();
      return new Bells(directory, '', undefined, clock, ear);
    }
  }

  /** Sent as soon as there is a connection; lost with the process it is for, which is then dead and told of as such. */
  ring(bell: string, message: Message): void {
    if (bell !== '' && !this.#closed) this.#link(bell).write(`${JSON.stringify(message)}\n`);
  }

  /** From here on the death of that process is told. */
  watch(bell: string): void {
    if (bell !== this.name && !this.#closed) this.#link(bell);
  }

  /** Buries who died while nobody watched, with the sockets they left behind. */
  async tidy(): Promise<void> {
    const entries = this.name === '' || isPipe ? [] : await readdir(this.#directory).catch(() => []);
    for (const entry of entries) {
      const bell = this.name.includes(sep) ? resolve(this.#directory, entry) : entry;
      if (bell === this.name) continue;
      // Asked twice: between taking a name and listening under it a process looks dead.
      this.#probe(bell, () => this.#clock.after(MOMENT, () => this.#probe(bell, () => this.#bury(bell)), true));
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of this.#pauses) cancel();
    // The name goes first: this process is not dead, and what it could not give back is left to expiry.
    if (this.#server) this.#remove(this.name);
    this.#server?.close();
    for (const caller of this.#callers) caller.destroy();
    const links = [...this.#links.values()];
    if (links.length === 0) return;
    await new Promise<void>((done) => {
      const cancel = this.#clock.after(MOMENT, done);
      const sent = links.map((link) => new Promise((closed) => link.once('close', closed).destroySoon()));
      void Promise.all(sent).then(() => {
        cancel();
        done();
      });
    });
    for (const link of links) link.destroy();
  }

  #link(bell: string, tries = 0): Socket {
    const known = this.#links.get(bell);
    if (known) return known;
    let met = false;
    const link = dial(
      this.#path(bell),
      () => {
        met = true;
      },
      (trouble) => {
        this.#links.delete(bell);
        if (this.#closed) return;
        if (met) this.#ear.parted().catch(() => {}); // beside every bell stands a timer of core's
        if (trouble === DEAD) this.#bury(bell);
        else if (met && tries < TRIES) this.#link(bell, tries + 1);
      },
    );
    this.#links.set(bell, link);
    return link;
  }

  #probe(bell: string, died: () => void): void {
    if (this.#closed) return;
    const socket = dial(
      this.#path(bell),
      () => socket.destroy(),
      (trouble) => {
        if (trouble === DEAD) died();
      },
    );
  }

  /**
   * The socket goes last: while it is there, whoever comes later finds the dead too. A burial that fails, since others were in the
   * way for too long or the disk was full, is tried again: those who wait for the dead hear of them once.
   */
  #bury(bell: string, pause = FIRST_PAUSE): void {
    if (this.#closed) return;
    this.#ear.died(bell).then(
      () => this.#remove(bell),
      () => {
        const again = (): void => {
          this.#pauses.delete(cancel);
          this.#bury(bell, Math.min(2 * pause, LAST_PAUSE));
        };
        const cancel = this.#clock.after(pause, again, true);
        this.#pauses.add(cancel);
        if (this.#closed) cancel();
      },
    );
  }

  #remove(bell: string): void {
    try {
      // Not by rmSync(): where that is written in JavaScript it looks at the socket first, and after a look at a socket the next
      // realpathSync() of Node's leaves links as they are, the one by which import() finds a package (pnpm's are links) too.
      if (!isPipe) unlinkSync(this.#path(bell));
    } catch {} // it is gone, or stays: without the right to, or because it is no socket
  }

  #listen(caller: Socket): void {
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
        if (text.length > LONGEST_MESSAGE) caller.destroy();
        for (const line of lines) this.#hear(line, caller);
      });
  }

  #hear(line: string, caller: Socket): void {
    let message: Partial<Message> | null = null;
    try {
      message = JSON.parse(line);
    } catch {}
    const { id, ticket } = message ?? {};
    if (typeof id === 'string' && Number.isSafeInteger(ticket)) this.#ear.heard({ id, ticket: ticket! });
    else caller.destroy();
  }

  #path(bell: string): string {
    return resolve(this.#directory, bell);
  }
}

/** Whether the process that was given this name for the locks file may be alive. */
export function answers(file: string, bell: string): Promise<boolean> {
  return new Promise((answer) => {
    const socket = dial(
      resolve(socketDirectory(file), bell),
      () => socket.destroy(),
      (trouble) => answer(!GONE.has(trouble)),
    );
  });
}

/** A connection that never keeps the process alive and never throws. `over` comes once, with the error's code if there was one. */
function dial(path: string, met: () => void, over: (trouble: string | undefined) => void): Socket {
  let trouble: string | undefined;
  return connect(path)
    .unref()
    .once('connect', met)
    .on('error', (error: NodeJS.ErrnoException) => {
      trouble = error.code;
    })
    .once('close', () => over(trouble))
    .resume();
}
