import { admitted } from '../../core/contract/admission.ts';
import type { Attempt, Claim, Grant, Renewal } from '../../core/contract/backend.ts';
import type { LockError } from '../../core/contract/errors.ts';
import { leastOf } from '../../core/contract/extremes.ts';
import { placeTtlOf } from '../../core/contract/lengths.ts';
import type { Line, Place } from './document.ts';
import type { Sight } from './sightings.ts';

/** What an attempt came to; and the sign of life of the claim, if it was this attempt that brought it into the line. */
export interface Joining {
  readonly attempt: Attempt;
  readonly joined?: Pick<Place, 'token' | 'beat'>;
}

/** A place that gave a sign of life within this part of its life needs no other one yet: a question is a read then, and no write. */
const FRESH = 0.25;

/** So many marks of steps that took a claim out are kept. */
const MOST_OUT = 4;

/** A line without its expired claims, while claims come and go. It may be thrown away: nothing happens before it is written. */
export class OpenLine implements Line {
  last: bigint;
  readonly places: Place[];
  out: readonly string[];
  /** It has to be written. */
  changed = false;
  readonly #sight: Sight;

  constructor({ last, places, out }: Line, sight: Sight) {
    this.last = last;
    this.out = out;
    const alive = places.filter((place) => sight.remaining(place) > 0);
    // A process that writes the line, for any reason, leaves to those who come later for how long it was watched until now.
    this.places = alive.map((place) => ({ ...place, watched: sight.watched(place) }));
    this.#sight = sight;
    this.#admit();
  }

  has(id: string): boolean {
    return this.#find(id) !== undefined;
  }

  /** ms until the claim at this position expires. */
  remaining(position: number): number {
    return this.#sight.remaining(this.places[position]!);
  }

  attempt(claim: Claim): Joining {
    const mine = this.#find(claim.id);
    if (mine) return { attempt: this.#again(mine, claim) };
    const fits = admitted([...this.places, claim]) > this.places.length;
    if (!fits && !claim.queue) return { attempt: this.#refusal(this.places) };
    const place = this.#join(claim);
    return { attempt: fits ? grant(place) : this.#refusal(this.places.slice(0, -1)), joined: { ...place } };
  }

  /** @param kept why it cannot have another ttl than it has */
  renew({ id, ttl }: Claim, kept?: LockError): Renewal {
    const mine = this.#find(id);
    if (!mine?.held) return 'gone';
    if (!kept) mine.ttl = ttl;
    this.#beat(mine, mine.ttl);
    return { validFor: mine.ttl, ...(kept && { kept }) };
  }

  /** Takes out a claim. @param by the mark of the step @returns whether that was this step, now or with an earlier try of its write */
  leave(by: string, isIt: (place: Place) => boolean): boolean {
    const at = this.places.findIndex(isIt);
    if (at < 0) return this.out.includes(by);
    this.places.splice(at, 1);
    this.out = [by, ...this.out].slice(0, MOST_OUT);
    this.changed = true;
    this.#admit();
    return true;
  }

  #find(id: string): Place | undefined {
    return this.places.find((place) => place.id === id);
  }

  #join({ id, units, capacity, label, ttl, tokenCount, minToken = 0n, ...rest }: Claim): Place {
    const token = this.#reserve(minToken > this.last ? minToken : this.last + 1n, tokenCount);
    const place: Place = { id, units, capacity, label, token, held: false, ttl, beat: 0, life: 0 };
    if (this.#sight.at !== undefined) place.joined = this.#sight.at;
    this.places.push(place);
    this.#beat(place, placeTtlOf({ ttl, ...rest }));
    this.#admit();
    return place;
  }

  #again(mine: Place, claim: Claim): Attempt {
    const left = this.#sight.remaining(mine);
    if (mine.held) {
      // A hold never expires sooner: this attempt may be an old message.
      this.#beat(mine, Math.max(left, claim.ttl));
      if (claim.minToken !== undefined && claim.minToken > mine.token)
        mine.token = this.#reserve(claim.minToken, claim.tokenCount);
      return { ...grant(mine), validFor: claim.ttl };
    }
    if (left < mine.life * (1 - FRESH)) this.#beat(mine, placeTtlOf(claim));
    return this.#refusal(this.places.slice(0, this.places.indexOf(mine)));
  }

  /** The token, with those that follow it in its span. */
  #reserve(token: bigint, tokenCount: number): bigint {
    const last = token + BigInt(tokenCount) - 1n;
    if (last > this.last) this.last = last;
    return token;
  }

  #beat(place: Place, life: number): void {
    place.beat++;
    place.life = life;
    place.watched = undefined;
    if (this.#sight.at !== undefined) place.at = this.#sight.at;
    this.changed = true;
  }

  /** Claims that are admitted now have their whole lease from now on. */
  #admit(): void {
    for (const place of this.places.slice(0, admitted(this.places))) {
      if (place.held) continue;
      place.held = true;
      this.#beat(place, place.ttl);
    }
  }

  #refusal(ahead: readonly Place[]): Attempt {
    const retryAfter = Math.max(0, leastOf(ahead.map((place) => this.#sight.remaining(place))));
    return { granted: false, ahead: ahead.length, retryAfter };
  }
}

const grant = ({ token, ttl }: Place): Grant => ({ granted: true, token, validFor: ttl });
