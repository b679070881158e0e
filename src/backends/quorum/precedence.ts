import type { Clock } from '../../core/contract/clock.ts';
import { RecentKeys } from '../../core/contract/recent-keys.ts';
import type { NextNote, NextProcess } from './next-note.ts';
import { type KeyUse, LOOK, lifeOf, mayAsk, mayRest, patienceOf, RENEW_AFTER, waitsLong } from './note-timing.ts';

/** A process that asks again within this time after its release may keep the others out, ms. Their pauses are as long. */
const AGAIN = 500;
/** After this time another process has seen the note, and has written its own if it has waited longer, ms. */
const SETTLES = 5;
/** A process that has not asked for this long no longer waits, ms: the pauses of a waiter are shorter. */
const GONE = 2_000;

/**
 * Decides which process goes first at a key that several processes ask for without pause. A quorum has no line, and a process that
 * asks again as soon as it releases leaves no gap for the others. So the process that has waited longest writes a note that it is
 * next. The others do not ask until it got the key, or the note has expired.
 */
export class Precedence {
  readonly #note: NextNote;
  readonly #clock: Clock;
  readonly #id: string;
  readonly #uses = new RecentKeys<KeyUse>();
  /** How long the nodes take to answer, ms. It is a moving average. */
  #roundTrip = 0;

  constructor(note: NextNote, clock: Clock) {
    this.#note = note;
    this.#clock = clock;
    this.#id = clock.id().slice(0, 16);
  }

  /** True if another process goes first, as far as is known since the last `refresh`. */
  yields(key: string): boolean {
    return this.#uses.get(key)?.next !== undefined;
  }

  /** Reads the note if this process has waited for long, or if another process was first when the note was last read. */
  async refresh(key: string): Promise<void> {
    const use = this.#uses.get(key);
    await use?.reading;
    if (!use) return;
    if (this.#clock.now() - use.refusedAt >= GONE) use.waitsSince = use.noteSince = undefined;
    const now = this.#clock.now();
    if (mayAsk(use, now, this.#roundTrip) || mayRest(use, now)) return;
    use.waitsSince ??= now;
    const { noteSince } = use;
    await this.#readNote(key, use);
    if (!use.next && use.noteSince !== noteSince) {
      // This process has just written its note, and another process that has waited longer may have done the same.
      await new Promise<void>((resolve) => this.#clock.after(SETTLES, resolve));
      await this.#readNote(key, use);
    }
  }

  /** True if this process is next, as far as it knows. */
  isNext(key: string): boolean {
    return this.#uses.get(key)?.noteSince !== undefined;
  }

  /** True if this process is next, and has waited for so long that few nodes have to refuse it. */
  sparesNodes(key: string): boolean {
    const use = this.#uses.get(key);
    return use?.noteSince !== undefined && waitsLong(use, this.#clock.now());
  }

  /** @param took ms until the nodes had answered; undefined if they were not asked */
  noteRefusal(key: string, took?: number): void {
    if (took !== undefined) this.#roundTrip = this.#roundTrip === 0 ? took : 0.8 * this.#roundTrip + 0.2 * took;
    const use = this.#use(key);
    use.refusedAt = this.#clock.now();
    use.waitsSince ??= use.refusedAt;
  }

  noteGrant(key: string): void {
    const use = this.#uses.get(key);
    if (!use) return;
    use.contended = use.waitsSince !== undefined || this.#clock.now() - use.releasedAt < AGAIN;
    this.#waitsNoMore(key, use);
  }

  /** Call it when a claim of this process gave up. If another one waits here, its wait counts from now. */
  noteGivenUp(key: string): void {
    const use = this.#uses.get(key);
    if (use) this.#waitsNoMore(key, use);
  }

  #waitsNoMore(key: string, use: KeyUse): void {
    use.waitsSince = undefined;
    if (use.noteSince === undefined) return;
    use.noteSince = undefined;
    this.#note.forget(key);
  }

  /** Call it at a release of the key. It may read the note, so that the next attempt knows which process goes first. */
  noteRelease(key: string): void {
    const use = this.#use(key);
    const now = this.#clock.now();
    use.releasedAt = now;
    if (use.contended && now - use.readAt >= LOOK) void this.#readNote(key, use);
  }

  #readNote(key: string, use: KeyUse): Promise<void> {
    use.reading ??= this.#readNow(key, use).finally(() => {
      use.reading = undefined;
    });
    return use.reading;
  }

  async #readNow(key: string, use: KeyUse): Promise<void> {
    const before = use.readAt;
    use.readAt = this.#clock.now();
    const found = await this.#find(key, use);
    const now = this.#clock.now();
    const waited = use.waitsSince === undefined ? 0 : now - use.waitsSince;
    use.next = this.#otherNext(use, found, before, now);
    if (use.next && use.next.waited + now - use.next.writtenAt > waited) use.noteSince = undefined;
    else {
      use.next = undefined;
      if (waited >= patienceOf(this.#roundTrip) && (use.noteSince === undefined || now - use.noteAt >= RENEW_AFTER))
        this.#writeNote(key, use, waited, now);
    }
  }

  /** Reads the note. After a long wait one node is enough, if it names the process that was next before. */
  async #find(key: string, use: KeyUse): Promise<NextProcess | undefined> {
    const before = use.next ?? (use.noteSince === undefined ? undefined : { id: this.#id, waited: 0 });
    const isEnough = before && waitsLong(use, this.#clock.now()) && (await this.#note.names(key, before.id));
    return isEnough ? before : this.#note.read(key);
  }

  #writeNote(key: string, use: KeyUse, waited: number, now: number): void {
    use.noteSince ??= now;
    use.noteAt = now;
    this.#note.write(key, { id: this.#id, waited }, lifeOf(waited, this.#roundTrip));
  }

  /**
   * Keeps the first sight of an unchanged note: the next holder goes on waiting, and writes its wait only now and then. A new note may have
   * been written right after the last look. Otherwise processes that began together would write over each other's notes for ever, and each
   * of them would be next.
   */
  #otherNext({ next }: KeyUse, found: NextProcess | undefined, before: number, now: number): KeyUse['next'] {
    if (!found || found.id === this.#id) return undefined;
    if (next?.id === found.id && next.waited === found.waited) return next;
    return { ...found, writtenAt: Math.max(before, now - lifeOf(found.waited, this.#roundTrip)) };
  }

  #use(key: string): KeyUse {
    const known = this.#uses.get(key);
    const use: KeyUse = known ?? {
      ...{
        waitsSince: undefined,
        refusedAt: Number.NEGATIVE_INFINITY,
        releasedAt: Number.NEGATIVE_INFINITY,
        contended: false,
      },
      ...{ readAt: Number.NEGATIVE_INFINITY, reading: undefined, noteSince: undefined, noteAt: 0, next: undefined },
    };
    this.#uses.set(key, use);
    return use;
  }
}
