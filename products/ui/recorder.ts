import { asOf, channels, DEFAULT_LABEL, type ForcedEvent, type LockEvent, reasonOf } from '../../src/core/index.ts';

/**
 * A hold, a failed wait or an eviction, as a process reports it about its own locks. `holds`: the hold goes on. `evicted`: the hold was
 * evicted. `lost`: the hold expired, or could not be renewed. `evicts`: this process evicted the holders of the key. Times are ms since 1970.
 */
export interface HistoryEntry {
  readonly what: 'holds' | 'released' | 'lost' | 'evicted' | 'timedOut' | 'failed' | 'evicts';
  readonly key: string;
  readonly label: string;
  readonly as: ReturnType<typeof asOf> | null;
  readonly token: string | null;
  readonly from: number;
  readonly to: number | null;
  readonly why: string | null;
}

/** The answer to `holdfast history`. */
export interface ProcessHistory {
  readonly process: string;
  readonly now: number;
  /** All holds that ended after this time are in `entries`. */
  readonly since: number;
  /** All losses, failed waits and evictions after this time are in `entries`. */
  readonly troublesSince: number;
  readonly entries: readonly HistoryEntry[];
}

/** So many holds are kept, and apart from them so many losses, failed waits and evictions: many holds push out no loss. */
const MAX_ENTRIES = 1_000;

/** The last entries of one sort, at least `MAX_ENTRIES`. */
class Latest {
  /** Grows to twice `MAX_ENTRIES` before it is cut, so that not every new entry copies the list. */
  entries: HistoryEntry[] = [];
  /** When the last forgotten entry ended, ms since 1970. If none is forgotten: when the recording began. */
  since: number;

  constructor(began: number) {
    this.since = began;
  }

  add(entry: HistoryEntry): void {
    if (this.entries.push(entry) < 2 * MAX_ENTRIES) return;
    this.since = this.entries[MAX_ENTRIES - 1]!.to!;
    this.entries = this.entries.slice(MAX_ENTRIES);
  }
}

/** Keeps what happened to the locks of this process, from the events that they publish. */
export class Recorder implements Disposable {
  readonly #now: () => number;
  readonly #began: number;
  readonly #holds: Latest;
  readonly #troubles: Latest;
  /** By the number of the request: the holds that go on. */
  readonly #open = new Map<number, HistoryEntry>();
  readonly #unlisten: (() => void)[];

  /**
   * @param locks the `number` of the `Locks`
   * @param prefix only keys that begin with this text
   * @param now gives the time, ms since 1970
   */
  constructor(locks: number, prefix: string, now: () => number = Date.now) {
    this.#now = now;
    this.#began = now();
    this.#holds = new Latest(this.#began);
    this.#troubles = new Latest(this.#began);
    const handlers: Partial<Record<keyof typeof channels, (event: LockEvent) => void>> = {
      acquired: (event) => this.#begin(event),
      handedOver: (event) => this.#begin(event),
      released: (event) => this.#end(event),
      lost: (event) => this.#end(event),
      timedOut: (event) => this.#troubles.add(this.#entry(event, 'timedOut')),
      failed: (event) => this.#troubles.add(this.#entry(event, 'failed')),
    };
    const forced = (event: ForcedEvent): void => {
      const { key, reason: why, evicted } = event;
      const [from, label] = [this.#now(), DEFAULT_LABEL];
      if (evicted > 0) this.#troubles.add({ what: 'evicts', key, label, as: null, token: null, from, to: from, why });
    };
    this.#unlisten = Object.entries({ ...handlers, forced }).map(([name, handle]) => {
      const receive = (event: unknown): void => {
        const { locks: whose, key } = event as LockEvent;
        if (whose === locks && key.startsWith(prefix)) handle(event as LockEvent & ForcedEvent);
      };
      const channel = channels[name as keyof typeof channels];
      channel.subscribe(receive);
      return () => channel.unsubscribe(receive);
    });
  }

  /** The losses, failed waits and evictions, the oldest first. */
  get troubles(): readonly HistoryEntry[] {
    return this.#troubles.entries;
  }

  /** All entries in the order of their ends. @param key only entries of this key */
  history(key?: string): ProcessHistory {
    const all = [...this.#holds.entries, ...this.#troubles.entries, ...this.#open.values()];
    const entries = key === undefined ? all : all.filter((entry) => entry.key === key);
    return {
      process: DEFAULT_LABEL,
      now: this.#now(),
      since: this.#holds.since,
      troublesSince: this.#troubles.since,
      entries: entries.sort((a, b) => (a.to ?? Number.MAX_VALUE) - (b.to ?? Number.MAX_VALUE) || a.from - b.from),
    };
  }

  [Symbol.dispose](): void {
    for (const unlisten of this.#unlisten.splice(0)) unlisten();
  }

  #begin(event: LockEvent): void {
    const now = this.#now();
    this.#open.set(event.request, { ...this.#entry(event, 'holds'), from: now, to: null });
  }

  /** A lost hold may still be released. That release is no second end. */
  #end(event: LockEvent): void {
    const began = this.#open.get(event.request);
    const isLoss = event.error !== undefined;
    const entry = this.#entry(event, isLoss ? (event.reason === undefined ? 'lost' : 'evicted') : 'released');
    if (!this.#open.delete(event.request) && entry.from >= this.#began) return;
    (isLoss ? this.#troubles : this.#holds).add(began ? { ...entry, from: began.from } : entry);
  }

  #entry(event: LockEvent, what: HistoryEntry['what']): HistoryEntry {
    const { key, label, token, duration = 0, error } = event;
    const to = this.#now();
    return {
      ...{ what, key, label, as: asOf(event), token: token === undefined ? null : `${token}` },
      ...{ from: Math.round(to - duration), to, why: error === undefined ? null : reasonOf(error) },
    };
  }
}
