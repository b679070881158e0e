import { Place } from './acquire.ts';
import { isExclusive, type Seats } from './admission.ts';
import type { Riding } from './answer.ts';
import type { Claim, Release } from './backend.ts';
import type { Granted } from './deadline.ts';
import { closedUntil } from './delay.ts';
import { PATIENCE } from './engine.ts';
import { emit } from './events.ts';
import { Hold, type HoldKeeper } from './hold.ts';
import { Line } from './line.ts';
import type { Terms } from './options.ts';
import { waitedAway } from './pause.ts';
import type { Space } from './space.ts';
import type { Trouble } from './trouble.ts';
import { askedOf, leaseOf, Wish } from './wish.ts';

/**
 * The line of one key inside this process, under the same rule: whoever it would admit stands in the engine's line, the
 * others wait here and cost the engine nothing. A hold may pass from hand to hand for a while before it goes back.
 */
export class LocalLine implements HoldKeeper {
  readonly #key: string;
  readonly #space: Space;
  readonly #onIdle: () => void;
  /** Inside: standing in the engine's line, or holding. */
  readonly #line = new Line<Wish>();

  constructor(key: string, space: Space, onIdle: () => void) {
    this.#key = key;
    this.#space = space;
    this.#onIdle = onIdle;
  }

  /**
   * @returns undefined when `wait` is 0 and it cannot be had now
   * @throws LockError `LOCK_TIMEOUT`, `LOCK_ABORTED`, `LOCK_UNAVAILABLE`, `LOCK_CLOSED`
   */
  obtain(seats: Seats, terms: Terms): Promise<Hold | undefined> {
    const { clock } = this.#space.engine;
    const wish = new Wish(this.#key, seats, terms, clock.now());
    wish.limit(clock, this.#space.engine.backend.name, (error) => this.#giveUp(wish, error));
    if (terms.wait === 0 && !this.#line.admits(seats)) wish.grant(undefined);
    if (!wish.settled) {
      if (this.#line.join(wish)) this.#stand(wish);
      else this.#waits(wish);
    }
    this.#tidy();
    return wish.outcome;
  }

  /** Whether this call freed the hold. Never throws: a release whose outcome is unknown goes on in the background. */
  async release(hold: Hold): Promise<boolean> {
    const { wish } = hold;
    if (!wish || hold.over) return false;
    const { engine, renewal } = this.#space;
    engine.clock.lookAgain?.();
    if (!hold.held) {
      hold.end('its deadline passed without a renewal');
      return false;
    }
    hold.close(); // before that is told: a listener may release again, or close
    emit('released', wish.context, () => hold.event({ duration: engine.clock.now() - hold.since }));
    if (this.#passOn(hold, wish)) return true;
    renewal.remove(hold);
    const { rest } = hold;
    engine.begin();
    try {
      if (rest > 0) return await this.#linger(hold, wish, rest);
      return await this.#giveBack(hold, wish);
    } catch {
      engine.withdraw(hold.claim);
      return false;
    } finally {
      if (hold.lateUntil > 0) engine.withdrawAt(hold.claim, Math.max(hold.lateUntil, engine.clock.now() + hold.rest));
      this.#leave(wish);
      engine.end();
    }
  }

  /** Rejects who waits; the last first, so that nobody inherits a place. */
  close(error: unknown): void {
    for (const wish of this.#line.members.reverse()) this.#giveUp(wish, error);
  }

  /** From hand to hand, if an equal wish is next, and neither the tenure nor too much of the lease is used up. */
  #passOn(hold: Hold, wish: Wish): boolean {
    const { clock } = this.#space.engine;
    const { max, within } = hold.terms.handOff;
    const next = this.#line.head;
    if (!next || !hold.exclusive || !next.equals(wish) || hold.loss || hold.terms.minHold > 0) return false;
    if (hold.claim.ttl !== askedOf(next.terms) || !hold.settled) return false; // it was extended, or may have been
    if (hold.tenure.passes + 1 >= hold.span) return false; // of whoever asked the engine for the tickets
    if (hold.tenure.passes >= max || next.terms.handOff.max <= hold.tenure.passes) return false;
    if (clock.now() - hold.tenure.since >= within || !hold.lastsFor(next.terms)) return false;
    this.#line.replace(wish, next);
    this.#hold(hold.passTo(next.terms), next);
    return true;
  }

  /** Back to the engine, in one step with the place of whoever comes next here. */
  #giveBack(hold: Hold, wish: Wish): Promise<boolean> {
    const { engine } = this.#space;
    const next = this.#line.successor(wish);
    const place = next && this.#newPlace(next);
    if (!next || !place?.open()) return engine.release(hold.claim).then(freed);
    this.#assign(place, next);
    this.#line.replace(wish, next);
    const sent = engine.clock.now();
    const released = engine.release(hold.claim, place.claim);
    void this.#serve(place, { sent, attempt: released.then((answer) => answer.next) });
    return released.then(freed);
  }

  /** Keeps the key taken for the rest of `minHold`, if possible without this process. */
  async #linger(hold: Hold, wish: Wish, rest: number): Promise<boolean> {
    const { engine } = this.#space;
    if (engine.backend.traits.lapses) {
      const ttl = Math.max(Math.ceil(rest), engine.backend.traits.ttl.min);
      const [answer] = await engine.renew([{ ...hold.claim, ttl }], PATIENCE).catch(() => []);
      // Else it would stay for as long as its lease, should nothing come of that either: too long, never too short.
      if (answer === undefined || answer === 'unknown') this.#takeBack(hold);
      return typeof answer === 'object';
    }
    await engine.pause(rest);
    return this.#giveBack(hold, wish);
  }

  #stand(wish: Wish, trouble?: Trouble): void {
    const place = this.#newPlace(wish, trouble);
    this.#assign(place, wish);
    void this.#serve(place);
  }

  #newPlace(wish: Wish, trouble?: Trouble): Place {
    const place: Place = new Place(this.#space.engine, this.#claim(wish), wish.terms, trouble, () =>
      this.#waits(place.wish),
    );
    return place;
  }

  #assign(place: Place, wish: Wish): void {
    place.wish = wish;
    wish.place = place;
  }

  #claim({ seats, terms }: Wish): Claim {
    const { backend, clock } = this.#space.engine;
    const { traits } = backend;
    const ttl = askedOf(terms);
    const queue = terms.wait > 0 && traits.fair;
    const woken = queue && traits.keptBy === 'lease' && traits.wakes !== 'never';
    return {
      key: this.#key,
      id: clock.id(),
      take: seats.take,
      of: seats.of,
      readWrite: seats.readWrite,
      ttl: woken ? Math.min(ttl + waitedAway(ttl), traits.ttl.max) : ttl,
      queue,
      span: isExclusive(seats) ? terms.handOff.max + 1 : 1,
      within: Math.min(PATIENCE, Math.max(leaseOf(terms) / 2, 100)),
      lingers: terms.minHold > 0 || terms.delay > 0,
      label: terms.label,
    };
  }

  /** Stands in the engine's line; what comes of it goes to the wish that the place belongs to by then. */
  async #serve(place: Place, riding?: Riding): Promise<void> {
    const { engine } = this.#space;
    engine.begin();
    let granted: Granted | undefined;
    try {
      granted = await place.stand(riding);
      const { wish } = place;
      const claim = wish && { ...place.claim, ttl: askedOf(wish.terms) };
      if (granted && wish) this.#hold(new Hold(engine, claim!, granted, wish.terms, this), wish);
      else if (granted) engine.withdraw(place.claim);
      else if (wish) {
        wish.grant(undefined);
        this.#leave(wish);
      }
    } catch (error) {
      const { wish } = place;
      if (granted) engine.withdraw(place.claim); // what came of it was no grant that could be held
      wish?.refuse(error);
      if (wish) this.#tellAlike(place.trouble);
      if (wish) this.#leave(wish, place.trouble);
    } finally {
      place.wish = undefined;
      engine.end();
    }
  }

  /** Renewal comes before the grant is shown. */
  #hold(hold: Hold, wish: Wish): void {
    hold.wish = wish;
    this.#space.renewal.add(hold);
    const duration = hold.since - wish.began;
    wish.grant(hold); // before that is told: a listener may end the wait
    emit(hold.tenure.passes > 0 ? 'handedOver' : 'acquired', wish.context, () => hold.event({ duration }));
    hold.listen();
  }

  ended(hold: Hold): void {
    this.#space.renewal.remove(hold);
    this.#takeBack(hold, closedUntil(hold));
    if (hold.wish) this.#leave(hold.wish);
  }

  /** In the background, when `minHold` and, after a lapse, `delay` are over. */
  #takeBack(hold: Hold, closedUntil = 0): void {
    const { engine } = this.#space;
    const now = engine.clock.now();
    const kept = Math.max(now + hold.rest, closedUntil);
    if (kept > now) engine.withdrawAt(hold.claim, Math.max(kept, hold.lateUntil));
    else engine.withdraw(hold.claim, hold.lateUntil);
  }

  /** A wish that gives up leaves its place to the next equal one, so that short waits do not send the process to the back. */
  #giveUp(wish: Wish, error: unknown): void {
    if (wish.settled) return;
    wish.refuse(error);
    const { place } = wish;
    const heir = this.#line.head;
    if (place && heir?.equals(wish)) {
      this.#line.replace(wish, heir);
      this.#assign(place, heir);
      return;
    }
    if (place) {
      place.wish = undefined;
      place.cancel();
    }
    this.#leave(wish);
  }

  /** Who has waited here for as long as an engine is waited for is told with the one who asked it. */
  #tellAlike(trouble: Trouble): void {
    const { engine } = this.#space;
    const now = engine.clock.now();
    if (now < trouble.limit(0)) return;
    for (const wish of this.#line.members) {
      if (wish.place || wish.settled || now < trouble.limit(wish.began)) continue;
      wish.refuse(engine.unavailable(this.#key, trouble.last, 'Another caller in this process asked; try again'));
      this.#leave(wish, trouble);
    }
  }

  /** @param trouble that whoever comes next would meet, too */
  #leave(wish: Wish, trouble?: Trouble): void {
    for (const next of this.#line.leave(wish)) this.#stand(next, trouble);
    this.#tidy();
  }

  /** Told once, whether it waits here first or in the engine's line. */
  #waits(wish: Wish | undefined): void {
    if (!wish || wish.waited) return;
    wish.waited = true;
    emit('waiting', wish.context, () => this.#event(wish));
  }

  #tidy(): void {
    if (this.#line.idle) this.#onIdle();
  }

  #event({ seats: { take, of }, terms: { label } }: Wish): { backend: string; key: string; label: string } & Seats {
    return { backend: this.#space.engine.backend.name, key: this.#key, label, take, of };
  }
}

const freed = (release: Release): boolean => release.freed;
