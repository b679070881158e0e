import type { Row } from './client.ts';
import type { Session } from './session.ts';

/** A session of a process of the server, and what it is used for. */
export interface Desk {
  readonly session: Session;
  readonly pid: number;
  /** When that process began: on a server that took over, the number is another's. */
  readonly started: string;
  /** Locks that it holds or is asking for. */
  load: number;
  /** A wait blocks it: nothing else can be sent. */
  waiting: boolean;
}

export type Opener = () => Promise<Pick<Desk, 'session' | 'pid' | 'started'>>;

/**
 * A bounded set of sessions. Many locks share one; a wait has one to itself, for whatever is sent behind it would wait too.
 * One is always left to ask on.
 */
export class Sessions {
  readonly #open: Opener;
  readonly #limit: number;
  readonly #desks = new Set<Desk>();
  #opening = 0;
  #shared: Promise<Desk> | undefined;
  #closed = false;

  constructor(open: Opener, limit: number) {
    this.#open = open;
    this.#limit = limit;
  }

  /** One to ask on, with `load` counted up already. */
  async toAsk(): Promise<Desk> {
    for (;;) {
      if (this.#closed) throw new Error('the backend is closed');
      const desk = [...this.#desks].find(({ waiting }) => !waiting);
      if (desk) {
        desk.load++;
        return desk;
      }
      this.#shared ??= this.#add().finally(() => {
        this.#shared = undefined;
      });
      await this.#shared;
    }
  }

  /** A statement on any that is free for one. */
  async query(text: string, values: unknown[]): Promise<Row[]> {
    const desk = await this.toAsk();
    try {
      return await desk.session.query(text, values);
    } finally {
      desk.load--;
    }
  }

  /** One that carries nothing, marked as waiting already; undefined where all are in use. */
  async toWait(): Promise<Desk | undefined> {
    const desks = [...this.#desks];
    // The sessions being opened may become waits too.
    if (desks.filter(({ waiting }) => waiting).length + this.#opening >= this.#limit - 1) return undefined;
    const idle = desks.find(({ waiting, load }) => !waiting && load === 0);
    if (!idle && desks.length + this.#opening >= this.#limit) return undefined;
    const desk = idle ?? (await this.#add(true));
    desk.waiting = true;
    return desk;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#shared?.catch(() => {});
    await Promise.all([...this.#desks].map(({ session }) => session.end()));
  }

  async #add(waiting = false): Promise<Desk> {
    this.#opening++;
    try {
      const opened = await this.#open();
      const { session } = opened;
      const desk: Desk = { ...opened, load: 0, waiting };
      this.#desks.add(desk);
      session.ended.addEventListener('abort', () => this.#desks.delete(desk));
      if (this.#closed) session.cut();
      return desk;
    } finally {
      this.#opening--;
    }
  }
}
