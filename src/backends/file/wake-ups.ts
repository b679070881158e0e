import { readdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { resolve, sep } from 'node:path';
import type { Cancel, Clock } from '../../core/clock.ts';
import { dial, probe } from './dial.ts';
import type { Message, OwnBell } from './own-bell.ts';
import { isPipe, removeSocket } from './sockets.ts';

/** What says that nobody listens under a name any more. */
const DEAD = isPipe ? 'ENOENT' : 'ECONNREFUSED';
/** Connections in a row that end at once without a verdict, before a process is left to expiry. */
const TRIES = 5;
/** ms that farewells may take, and that a process may need from having a name to listening under it. */
const MOMENT = 200;
/** Pauses between tries to bury the dead, ms: the first, doubled up to the last. */
const FIRST_PAUSE = 10;
const LAST_PAUSE = 1_000;

/** What is told to whoever has the bells. */
export interface BellEvents {
  heard(message: Message): void;
  /** A process that was there is gone, perhaps between admitting somebody and telling them. */
  parted(): Promise<void>;
  /** No process listens, or will ever listen, under this name. */
  died(bell: string): Promise<void>;
}

/**
 * The door-bells of the processes that share a locks file. Whoever rings another, or waits behind it, keeps a connection to
 * it: if that ends and nobody listens there any more, the process is dead. No process id is involved, so none can be mistaken;
 * a process that is only stopped still listens.
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

  /** Of this process. */
  get name(): string {
    return this.#own.name;
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
    const entries = this.name === '' || isPipe ? [] : await readdir(this.#own.directory).catch(() => []);
    for (const entry of entries) {
      const bell = this.name.includes(sep) ? this.#path(entry) : entry;
      if (bell === this.name) continue;
      // Asked twice: between taking a name and listening under it a process looks dead.
      this.#ifDead(bell, () => this.#clock.after(MOMENT, () => this.#ifDead(bell, () => this.#bury(bell)), true));
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
        if (met) this.#events.parted().catch(() => {}); // beside every bell stands a timer of core's
        if (trouble === DEAD) this.#bury(bell);
        else if (met && tries < TRIES) this.#link(bell, tries + 1);
      },
    );
    this.#links.set(bell, link);
    return link;
  }

  #ifDead(bell: string, act: () => void): void {
    if (this.#closed) return;
    probe(this.#path(bell), (trouble) => {
      if (trouble === DEAD) act();
    });
  }

  /**
   * The socket goes last: while it is there, whoever comes later finds the dead too. A burial that fails, since others were in the
   * way for too long or the disk was full, is tried again: those who wait for the dead hear of them once.
   */
  #bury(bell: string, pause = FIRST_PAUSE): void {
    if (this.#closed) return;
    this.#events.died(bell).then(
      () => removeSocket(this.#path(bell)),
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

  #path(bell: string): string {
    return resolve(this.#own.directory, bell);
  }
}
