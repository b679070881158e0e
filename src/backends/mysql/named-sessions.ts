import { type Cancel, type Clock, type Handle, LockError, onceFor } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import { settingsOf } from './check.ts';
import { translateError } from './errors.ts';
import { type LockName, NamedSession } from './named-session.ts';
import type { Table } from './table.ts';

/** Longest pause between two looks at the held locks, ms. It is shorter where the server ends idle sessions sooner. */
const KEEP_ALIVE = 10_000;

/**
 * The sessions of this process, by the ids of their claims. Those that hold are looked at now and then. So a connection that ended
 * silently is noticed, and no connection is idle.
 */
export class NamedSessions {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #lockNameOf: (key: string) => LockName;
  readonly #byId = new Map<string, NamedSession>();
  /** ms after which the server ends an idle session. Asked only once: later, holds may have all connections of the pool. */
  readonly #idleLimit = onceFor(() => this.#askIdleLimit());
  #stopLooking: Cancel | undefined;
  #closed = false;

  constructor(table: Table, clock: Clock, lockNameOf: (key: string) => LockName) {
    this.#table = table;
    this.#clock = clock;
    this.#lockNameOf = lockNameOf;
  }

  get(id: string): NamedSession | undefined {
    return this.#byId.get(id);
  }

  async open({ id, key }: Handle): Promise<NamedSession> {
    const session = new NamedSession(this.#table, this.#lockNameOf(key));
    this.#byId.set(id, session);
    try {
      await this.#table.ready();
      const limit = await this.#idleLimit();
      await session.open();
      const pause = () => Math.min(KEEP_ALIVE, limit / 3);
      if (!this.#closed) this.#stopLooking ??= repeat(this.#clock, pause, () => this.#look());
      return session;
    } catch (error) {
      this.forget(id, session);
      throw translateError(error, this.#table.backend);
    }
  }

  forget(id: string, session: NamedSession): void {
    if (this.#byId.get(id) === session) this.#byId.delete(id);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopLooking?.();
    const sessions = [...this.#byId.values()];
    this.#byId.clear();
    await Promise.all(sessions.map((session) => session.release().catch(() => false)));
  }

  async #askIdleLimit(): Promise<number> {
    const settings = await settingsOf(this.#table);
    if (settings('wsrep_on') === 'ON') {
      const message =
        'mysql-named cannot lock here: named locks are of one node, and this is a Galera cluster. Use mysql()';
      throw new LockError('LOCK_UNSUPPORTED', message, { backend: 'mysql-named' });
    }
    return Number(settings('wait_timeout')) * 1_000;
  }

  async #look(): Promise<void> {
    await Promise.all(
      [...this.#byId].map(async ([id, session]) => {
        if (session.grant) await session.check().catch(() => false);
        if (session.ended) this.forget(id, session);
      }),
    );
    if (this.#byId.size > 0) return;
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }
}
