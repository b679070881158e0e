import { readdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { resolve, sep } from 'node:path';
import type { Cancel, Clock } from '../../core/index.ts';
import type { Message, OwnBell } from './own-bell.ts';
import { dial, isPipe, probe, provesDeath, removeSocket } from './sockets.ts';

/** The number of connections in a row that may end without a proof of death. After that the claims of the process expire by themselves. */
const TRIES = 5;
/** The limit for last messages, and for the time from getting a name to listening under it. ms. */
const MOMENT = 200;
/** The first pause between tries to remove the claims of a dead process, and the longest; it doubles. ms. */
const FIRST_PAUSE = 10;
const LAST_PAUSE = 1_000;

export interface BellEvents {
  /** A claim of this process was admitted. */
  onMessage(message: Message): void;
  /** A process has ended, perhaps after it admitted a claim and before it told about that. */
  onDisconnect(): Promise<void>;
  /** No process listens, or will ever listen, under this name. */
  onDeath(bell: string): Promise<void>;
}

/**
 * The sockets of the processes that share a locks file. A process that tells another one, or waits behind it, keeps a connection to
 * it. If the connection ends and nobody listens there any more, the other process is dead. This needs no process id, which could
 * be used again. A process that is only stopped still listens.
 */
export class Bells {
  readonly #own: OwnBell;
  readonly #clock: Clock;
  readonly #events: BellEvents;
  readonly #links = new Map<string, Socket>();
  readonly #pauses = new Set<Cancel>();
  #closed = false;

  constructor(own: OwnBell, clock: Clock, events: BellEvents) {
    this.#own = own;
    this.#clock = clock;
    this.#events = events;
  }

  /** The name of this process. */
  get name(): string {
    return this.#own.name;
  }

  /** Sends a message as soon as there is a connection. It is lost only with the process it is for. */
  ring(bell: string, message: Message): void {
    if (bell !== '' && !this.#closed) this.#link(bell).write(`${JSON.stringify(message)}\n`);
  }

  /** From now on the death of that process is reported. */
  watch(bell: string): void {
    if (bell !== this.name && !this.#closed) this.#link(bell);
  }

  /** Removes what processes left that died while nobody watched: claims and sockets. */
  async tidy(): Promise<void> {
    const entries = this.name === '' || isPipe ? [] : await readdir(this.#own.directory).catch(() => []);
    for (const entry of entries) {
      const bell = this.name.includes(sep) ? this.#path(entry) : entry;
      if (bell === this.name) continue;
      // Asked twice: a process that has a name and does not listen yet seems dead.
      this.#ifDead(bell, () => this.#clock.after(MOMENT, () => this.#ifDead(bell, () => this.#removeDead(bell)), true));
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of this.#pauses) cancel();
    this.#own.close();
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

  #link(bell: string, attempts = 0): Socket {
    const known = this.#links.get(bell);
    if (known) return known;
    let connected = false;
    const link = dial(
      this.#path(bell),
      () => {
        connected = true;
      },
      (trouble) => {
        this.#links.delete(bell);
        if (this.#closed) return;
        if (connected) this.#events.onDisconnect().catch(() => {}); // core also asks by its own timer
        if (provesDeath(trouble, bell)) this.#removeDead(bell);
        else if (connected && attempts < TRIES) this.#link(bell, attempts + 1);
      },
    );
    this.#links.set(bell, link);
    return link;
  }

  #ifDead(bell: string, act: () => void): void {
    if (this.#closed) return;
    probe(this.#path(bell), (trouble) => {
      if (provesDeath(trouble, bell)) act();
    });
  }

  /**
   * The socket is removed last: while it is there, later processes also find the dead one. A step fails where other processes keep the
   * file busy, or where the disk is full. It is tried again, since waiters learn only once that the process is dead.
   */
  #removeDead(bell: string, pause = FIRST_PAUSE): void {
    if (this.#closed) return;
    this.#events.onDeath(bell).then(
      () => removeSocket(this.#path(bell)),
      () => {
        const again = (): void => {
          this.#pauses.delete(cancel);
          this.#removeDead(bell, Math.min(2 * pause, LAST_PAUSE));
        };
        const cancel = this.#clock.after(pause, again, true);
        this.#pauses.add(cancel);
        if (this.#closed) cancel();
      },
    );
  }

  #path(bell: string): string {
    return resolve(this.#own.directory, bell);
  }
}
