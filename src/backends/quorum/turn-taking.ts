import { type Clock, RecentKeys } from '../../core/index.ts';
import type { NextProcess, TurnHint } from './turn-hint.ts';

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * A process asks to be next when it has waited for this time in ms and for this number of round trips to the nodes. Before that, attempts at
 * random times get the key sooner: a hint takes several round trips, in which no process asks.
 */
const MIN_PATIENCE_MS = 20;
const PATIENCE_ROUND_TRIPS = 16;
/** How often a process reads the hint, ms, if it is next itself or gets the key again and again. */
const READ_EVERY_MS = 25;
/** How often the next holder renews its hint, and how much longer than that the hint lasts, ms. */
const RENEW_AFTER_MS = 80;
const LASTS_MS = 170;
/**
 * A long wait makes the hint last longer: by this share of the wait, but by at most this time, ms. If the next holder dies, the others wait until
 * its hint expires.
 */
const LONGER_PART = 0.05;
const MAX_LONGER_MS = 5_000;
/** After this wait, ms, a process spares the nodes: it looks at the hint less often, and first at one node only. */
const LONG_WAIT_MS = 1_000;
/** The next holder reads its hint this long before the hint expires, ms: enough for its longest pause between two attempts and for the answers. */
const MAX_PAUSE_MS = 800;
/** How long, at most, a process behind the next holder does not look at the hint, ms. */
const MAX_REST_MS = 2_000;

/** A process that asks again within this time after its release, ms, may keep the others out, since their pauses can be as long. */
const REUSE_MS = 500;
/** After this time another process has seen the hint, and has written its own if it has waited longer, ms. */
const SETTLES_MS = 5;
/** If a process has made no attempt during this time, ms, it no longer waits: the pauses of a waiter are shorter. */
const GIVEN_UP_MS = 2_000;

/** What a process knows of its use of a key. */
export interface KeyUse {
  /** The time since which this process has been refused; undefined if it was granted since. */
  waitsSince: number | undefined;
  refusedAt: number;
  releasedAt: number;
  /** True if other processes may wait: this process was refused before its grant, or asked again just after its release. */
  contended: boolean;
  /** The time of the last read of the hint, and the read that is under way. */
  readAt: number;
  reading: Promise<void> | undefined;
  /** The time of the first and of the latest hint in which this process names itself; the first is undefined if it is not next. */
  hintSince: number | undefined;
  hintAt: number;
  /** The other process that is next, and the earliest time at which its hint can have been written. */
  next: (NextProcess & { readonly writtenAt: number }) | undefined;
}

export const patienceOf = (roundTrip: number): number => Math.max(MIN_PATIENCE_MS, PATIENCE_ROUND_TRIPS * roundTrip);

export const lifeOf = (waited: number, roundTrip: number): number =>
  RENEW_AFTER_MS + LASTS_MS + 4 * roundTrip + Math.min(MAX_LONGER_MS, waited * LONGER_PART);

/** True if a process may ask without a look at the hint: no other process is next, and this one has not waited long, or its own hint lasts. */
export function mayAsk(use: KeyUse, now: number, roundTrip: number): boolean {
  const { next, waitsSince, hintSince, readAt, hintAt } = use;
  if (next) return false;
  if (hintSince === undefined) return waitsSince === undefined || now - waitsSince < patienceOf(roundTrip);
  const waited = hintAt - (waitsSince ?? hintAt);
  const pause = waited < LONG_WAIT_MS ? 0 : lifeOf(waited, roundTrip) - MAX_PAUSE_MS;
  return now - readAt < Math.max(READ_EVERY_MS, pause);
}

export const waitsLong = ({ waitsSince = Number.POSITIVE_INFINITY }: KeyUse, now: number): boolean =>
  now - waitsSince >= LONG_WAIT_MS;

/** True if another process is next, and this one has waited for so long that it need not notice a change at once. */
export function mayRest(use: KeyUse, now: number): boolean {
  const { next, waitsSince = now, readAt } = use;
  const pause = Math.min(MAX_REST_MS, (now - waitsSince) * LONGER_PART);
  return next !== undefined && waitsLong(use, now) && now - readAt < pause;
}

/**
 * Decides which process goes first at a key that several processes ask for without pause. A quorum has no queue, and a process that
 * asks again as soon as it releases leaves no gap for the others. So the process that has waited longest writes a hint that it is
 * next. The others do not ask until that process got the key, or the hint has expired.
 */
export class TurnTaking {
  readonly #hint: TurnHint;
  readonly #clock: Clock;
  readonly #id: string;
  readonly #uses = new RecentKeys<KeyUse>(
    undefined,
    ({ waitsSince, refusedAt }) => waitsSince !== undefined && this.#clock.now() - refusedAt < GIVEN_UP_MS,
  );
  /** How long the nodes take to answer, ms: a moving average. */
  #roundTrip = 0;

  constructor(hint: TurnHint, clock: Clock) {
    this.#hint = hint;
    this.#clock = clock;
    this.#id = clock.id().slice(0, 16);
  }

  /** True if another process goes first, as far as is known since the last `refresh`. */
  yields(key: string): boolean {
    return this.#uses.get(key)?.next !== undefined;
  }

  /** Reads the hint if this process has waited for long, or if another process was first when the hint was last read. */
  async refresh(key: string): Promise<void> {
    const use = this.#uses.get(key);
    await use?.reading;
    if (!use) return;
    if (this.#clock.now() - use.refusedAt >= GIVEN_UP_MS) use.waitsSince = use.hintSince = undefined;
    const now = this.#clock.now();
    if (mayAsk(use, now, this.#roundTrip) || mayRest(use, now)) return;
    use.waitsSince ??= now;
    const { hintSince } = use;
    await this.#readHint(key, use);
    if (!use.next && use.hintSince !== hintSince) {
      // This process has just written its hint, and another process that has waited longer may have done the same.
      await new Promise<void>((resolve) => this.#clock.after(SETTLES_MS, resolve));
      await this.#readHint(key, use);
    }
  }

  /** True if this process is next, as far as it knows. */
  isNext(key: string): boolean {
    return this.#uses.get(key)?.hintSince !== undefined;
  }

  /** True if this process is next, and has waited for so long that it asks only a few nodes first. */
  sparesNodes(key: string): boolean {
    const use = this.#uses.get(key);
    return use?.hintSince !== undefined && waitsLong(use, this.#clock.now());
  }

  /** @param took ms until the nodes answered; undefined if they were not asked */
  noteRefusal(key: string, took?: number): void {
    if (took !== undefined) this.#roundTrip = this.#roundTrip === 0 ? took : 0.8 * this.#roundTrip + 0.2 * took;
    const use = this.#use(key);
    use.refusedAt = this.#clock.now();
    use.waitsSince ??= use.refusedAt;
  }

  noteGrant(key: string): void {
    const use = this.#uses.get(key);
    if (!use) return;
    use.contended = use.waitsSince !== undefined || this.#clock.now() - use.releasedAt < REUSE_MS;
    this.#waitsNoMore(key, use);
  }

  /** A claim of this process gave up: the wait of its other claims counts from now. */
  noteGivenUp(key: string): void {
    const use = this.#uses.get(key);
    if (use) this.#waitsNoMore(key, use);
  }

  #waitsNoMore(key: string, use: KeyUse): void {
    use.waitsSince = undefined;
    if (use.hintSince === undefined) return;
    use.hintSince = undefined;
    this.#hint.forget(key);
  }

  /** May read the hint at a release of the key, so that the next attempt knows which process goes first. */
  noteRelease(key: string): void {
    const use = this.#use(key);
    const now = this.#clock.now();
    use.releasedAt = now;
    if (use.contended && now - use.readAt >= READ_EVERY_MS) void this.#readHint(key, use);
  }

  #readHint(key: string, use: KeyUse): Promise<void> {
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
    if (use.next && use.next.waited + now - use.next.writtenAt > waited) use.hintSince = undefined;
    else {
      use.next = undefined;
      if (waited >= patienceOf(this.#roundTrip) && (use.hintSince === undefined || now - use.hintAt >= RENEW_AFTER_MS))
        this.#writeHint(key, use, waited, now);
    }
  }

  /** Reads the hint. After a long wait one node is enough, if it names the process that was next before. */
  async #find(key: string, use: KeyUse): Promise<NextProcess | undefined> {
    const before = use.next ?? (use.hintSince === undefined ? undefined : { id: this.#id, waited: 0 });
    const isEnough = before && waitsLong(use, this.#clock.now()) && (await this.#hint.names(key, before.id));
    return isEnough ? before : this.#hint.read(key);
  }

  #writeHint(key: string, use: KeyUse, waited: number, now: number): void {
    use.hintSince ??= now;
    use.hintAt = now;
    this.#hint.write(key, { id: this.#id, waited }, lifeOf(waited, this.#roundTrip));
  }

  /**
   * Gives the other process that is next, and when its hint can have been written at the earliest: right after our last look. An unchanged hint
   * keeps that time, since its process goes on waiting. If the time moved at each look, processes that began together would each seem to have
   * waited longest, and overwrite each other's hints for ever.
   */
  #otherNext({ next }: KeyUse, found: NextProcess | undefined, before: number, now: number): KeyUse['next'] {
    if (!found || found.id === this.#id) return undefined;
    if (next?.id === found.id && next.waited === found.waited) return next;
    return { ...found, writtenAt: Math.max(before, now - lifeOf(found.waited, this.#roundTrip)) };
  }

  #use(key: string): KeyUse {
    const known = this.#uses.get(key);
    const use: KeyUse = known ?? {
      ...{ waitsSince: undefined, refusedAt: NEVER, releasedAt: NEVER, contended: false },
      ...{ readAt: NEVER, reading: undefined, hintSince: undefined, hintAt: 0, next: undefined },
    };
    this.#uses.set(key, use);
    return use;
  }
}
