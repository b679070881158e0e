import type { Attempt, Claim, Grant, Renewal } from '../../core/backend.ts';
import type { Clock } from '../../core/clock.ts';
import { LockError } from '../../core/errors.ts';
import { explained } from './errors.ts';
import { judged, stillRefused, watched } from './lines.ts';
import { labelOf, type Place, type Places } from './places.ts';
import { proven } from './proof.ts';
import type { Connection } from './wire/connection.ts';
import { ConnectionLost } from './wire/errors.ts';
import { setData } from './wire/operations.ts';
import type { Watcher } from './wire/watches.ts';

/** Finds out, over a connection, whether our places are admitted, and what a hold is good for. */
export class Admissions {
  readonly #places: Places;
  readonly #clock: Clock;

  constructor(places: Places, clock: Clock) {
    this.#places = places;
    this.#clock = clock;
  }

  /** A definite refusal is without effect, as the contract has it: a node that was made before it is taken back first. */
  async attempt(connection: Connection, claim: Claim, began: number): Promise<Attempt> {
    try {
      return await this.#stand(connection, claim, began);
    } catch (error) {
      if (explained(error, 'queue') instanceof LockError) {
        this.#places.giveUp(claim);
        await this.#places.leave(connection, claim).catch(() => {}); // kept among those that the next connection removes
      }
      throw error;
    }
  }

  async renew(connection: Connection, claim: Claim, began: number): Promise<Renewal> {
    const place = this.#places.get(claim.id, connection.session);
    if (!place || !(await proven(this.#places, claim.id, place, connection))) return 'gone';
    this.#relay(connection, claim, place);
    return { validFor: validFor(connection, claim, began) };
  }

  /** The grant, or arms the one watch that the claim needs now. */
  async look(connection: Connection, claim: Claim, tell: Watcher): Promise<Grant | undefined> {
    const place = this.#places.get(claim.id, connection.session);
    if (!place) throw new ConnectionLost('there is no place in line');
    const now = (): number => this.#clock.now();
    const admitted = await watched(connection, this.#places.parent(claim.key), place, tell, now);
    return admitted && this.#grant(connection, claim, place, admitted.relay);
  }

  async #stand(connection: Connection, claim: Claim, began: number): Promise<Attempt> {
    const parent = this.#places.parent(claim.key);
    const waiting = this.#places.get(claim.id, connection.session);
    if (claim.queue && waiting && (await stillRefused(connection, parent, waiting, this.#clock.now()))) {
      waiting.asked = began;
      return { granted: false };
    }
    const { place, listing } = await this.#places.stand(connection, claim);
    place.asked = began;
    // ZooKeeper takes no "not after": what came too late is taken back.
    const late = this.#clock.now() - began > claim.within;
    const verdict = judged(place, listing, this.#clock.now());
    if (verdict.admitted && !late) return this.#grant(connection, claim, place, verdict.relay);
    if (late || !claim.queue) {
      this.#places.giveUp(claim);
      await this.#places.leave(connection, claim);
    }
    if (late || verdict.admitted) return { granted: false, late: true };
    return { granted: false, ahead: verdict.ahead };
  }

  #grant(connection: Connection, claim: Claim, place: Place, relay: boolean): Grant {
    if (relay) place.relay ??= 'owed';
    this.#relay(connection, claim, place);
    place.lost ??= new AbortController();
    const { ticket, asked, lost } = place;
    return { granted: true, ticket, validFor: validFor(connection, claim, asked), lost: lost.signal };
  }

  /** Writes the node, for the next in line to hear. Should that fail, the next renewal does it. */
  #relay(connection: Connection, claim: Claim, place: Place): void {
    if (place.relay !== 'owed') return;
    place.relay = 'told';
    connection.request(setData(place.path, labelOf(claim))).catch(() => {
      place.relay = 'owed';
    });
  }
}

const validFor = (connection: Connection, { ttl }: Claim, since: number): number =>
  Math.min(ttl, connection.sureUntil - since);
