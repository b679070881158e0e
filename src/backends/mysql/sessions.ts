import type { Handle } from '../../core/backend.ts';
import type { Cancel, Clock } from '../../core/clock.ts';
import { LockError } from '../../core/errors.ts';
import { settingsOf } from './check.ts';
import { type LockName, Session } from './session.ts';
import type { Table } from './table.ts';

/** Longest pause between two looks at the held locks, ms: shorter where the server ends idle sessions sooner. */
const KEEP_ALIVE = 10_000;

/**
 * The sessions of this process, by the ids of their claims. Each that holds is looked at now and then: a connection that ended
 * without a word is noticed, and none is idle.
 */
export class Sessions {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #nameOf: (key: string) => LockName;
  readonly #byId = new Map<string, Session>();
  /** ms after which the server ends an idle session. Asked once: later on, holds may have all connections of the pool. */
  #idleLimit: Promise<number> | undefined;
  #cancel: Cancel | undefined;
  #closed = false;

  constructor(table: Table, clock: Clock, nameOf: (key: string) => LockName) {
    this.#table = table;
    this.#clock = clock;
    this.#nameOf = nameOf;
  }

  get(id: string): Session | undefined {
    return this.#byId.get(id);
  }

  async open({ id, key }: Handle): Promise<Session> {
    const session = new Session(this.#table, this.#nameOf(key));
    this.#byId.set(id, session);
    try {
      await this.#table.ready();
      const limit = await this.#limit();
      await session.open();
      this.#lookLater(limit);
      return session;
    } catch (error) {
      this.forget(id, session);
      throw this.#table.mapped(error);
    }
  }

  forget(id: string, session: Session): void {
    if (this.#byId.get(id) === session) this.#byId.delete(id);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    const sessions = [...this.#byId.values()];
    this.#byId.clear();
    await Promise.all(sessions.map((session) => session.release().catch(() => false)));
  }

  #limit(): Promise<number> {
    this.#idleLimit ??= this.#ask().catch((error) => {
      this.#idleLimit = undefined;
      throw error;
    });
    return this.#idleLimit;
  }

  async #ask(): Promise<number> {
    const settings = await settingsOf(this.#table);
    if (settings('wsrep_on') === 'ON') {
      const message =
        'mysql-named cannot lock here: named locks are of one node, and this is a Galera cluster. Use mysql()';
      throw new LockError('LOCK_UNSUPPORTED', message, { backend: 'mysql-named' });
    }
    return Number(settings('wait_timeout')) * 1_000;
  }

  #lookLater(limit: number): void {
    if (this.#cancel || this.#closed) return;
    this.#cancel = this.#clock.after(Math.min(KEEP_ALIVE, limit / 3), () => void this.#look(limit), true);
  }

  async #look(limit: number): Promise<void> {
    await Promise.all(
      [...this.#byId].map(async ([id, session]) => {
        if (session.grant) await session.check().catch(() => false);
        if (session.ended) this.forget(id, session);
      }),
    );
    this.#cancel = undefined;
    if (this.#byId.size > 0) this.#lookLater(limit);
  }
}
