import { type Attempt, type Claim, type Clock, type Grant, LockError, type Renewal } from '../../core/index.ts';
import { read } from './nodes.ts';
import { type OwnNode, stillRefused, verdictFrom, watchObstacle } from './own-node.ts';
import type { OwnNodes } from './own-nodes.ts';
import type { ZooKeeperConnection } from './wire/connection.ts';
import { ConnectionLost, translateError } from './wire/errors.ts';
import { setData } from './wire/operations.ts';
import type { Watcher } from './wire/requests.ts';

/** Finds out whether the claims of this process are admitted, and how long a hold is good. */
export class Admissions {
  readonly #own: OwnNodes;
  readonly #clock: Clock;

  constructor(own: OwnNodes, clock: Clock) {
    this.#own = own;
    this.#clock = clock;
  }

  /**
   * A definite refusal must leave nothing behind, but may come after the node was made. So this removes the node, unless a notification
   * has granted it meanwhile: core keeps that hold. If the server refuses the removal, too, it would refuse it again.
   * @param attempt with all its steps
   */
  async whole(connection: ZooKeeperConnection, claim: Claim, attempt: () => Promise<Attempt>): Promise<Attempt> {
    try {
      return await attempt();
    } catch (error) {
      const isRefused = translateError(error, 'queue') instanceof LockError;
      if (isRefused && !this.#own.get(claim.id, connection.session)?.notified)
        await this.#own.withdraw(connection, claim).catch((failure) => {
          if (translateError(failure, 'leave') instanceof LockError) this.#own.forgive(claim.id);
        });
      throw error;
    }
  }

  async attempt(connection: ZooKeeperConnection, claim: Claim, began: number): Promise<Attempt> {
    const parent = this.#own.parent(claim.key);
    const waiting = this.#own.get(claim.id, connection.session);
    if (claim.queue && waiting && (await stillRefused(connection, parent, waiting, this.#clock.now()))) {
      waiting.asked = began;
      return { granted: false };
    }
    const [place, listing] = await this.#own.stand(connection, claim, began);
    place.asked = began;
    // The listing may be older than the notification, from which core counts on the hold: it needs the time that the session has from `began` on.
    if (place.notified) return this.#grant(connection, claim, place, false);
    // ZooKeeper cannot refuse a late request. So a node that this one made too late is given up, unless a notification has granted it meanwhile.
    const late = place.made === began && !place.lost && this.#clock.now() - began > claim.within;
    const verdict = verdictFrom(place, listing, this.#clock.now());
    if (verdict.admitted && !late) return this.#grant(connection, claim, place, verdict.relay);
    if (late || !claim.queue) await this.#own.withdraw(connection, claim);
    if (late || verdict.admitted) return { granted: false, late: true };
    return { granted: false, ahead: verdict.ahead };
  }

  async renew(connection: ZooKeeperConnection, claim: Claim, began: number): Promise<Renewal> {
    const place = this.#own.get(claim.id, connection.session);
    if (!place || !(await this.#proven(connection, claim.id, place))) return 'gone';
    return { validFor: validFor(connection, claim, began) };
  }

  /** @returns the grant; undefined if the claim is refused: then its watch is set */
  async look(connection: ZooKeeperConnection, claim: Claim, notify: Watcher): Promise<Grant | undefined> {
    const place = this.#own.get(claim.id, connection.session);
    if (!place) throw new ConnectionLost('there is no place in the queue');
    const admitted = await watchObstacle(connection, this.#own.parent(claim.key), place, notify, this.#clock);
    if (!this.#own.has(claim.id, place)) throw new ConnectionLost('the place was given up meanwhile');
    if (!admitted) return undefined;
    place.notified = true;
    return this.#grant(connection, claim, place, admitted.relay);
  }

  #grant(connection: ZooKeeperConnection, claim: Claim, place: OwnNode, relay: boolean): Grant {
    if (relay && !place.relay) {
      place.relay = setData(place.path, Buffer.from(claim.label));
      this.relay(connection, place).catch(() => {});
    }
    place.lost ??= new AbortController();
    const { token, asked, lost } = place;
    return { granted: true, token, validFor: validFor(connection, claim, asked), lost: lost.signal };
  }

  /** Writes the node again, so that the watch of the next permit fires. If that fails twice, the next connection repeats the write. */
  async relay(connection: ZooKeeperConnection, place: OwnNode): Promise<void> {
    const { relay = 'sent' } = place;
    if (relay === 'sent') return;
    await connection.request(relay).catch(() => connection.request(relay));
    place.relay = 'sent';
  }

  /**
   * Whether the node exists and belongs to the session of this connection. If so, a watch stays on the node: until the watch fires, the next
   * call for this connection sends no request. If the node is removed, the holder is notified at once.
   */
  async #proven(connection: ZooKeeperConnection, id: string, place: OwnNode): Promise<boolean> {
    while (place.seenOn !== connection) {
      let changed = false;
      const node = await read(connection, place.path, () => {
        changed = true;
        place.seenOn = undefined;
        // If only the connection has ended, the node may still be there: the next renewal looks on another connection.
        if (connection.alive && this.#own.has(id, place)) this.#proven(connection, id, place).catch(() => {});
      });
      if (node?.stat.ephemeralOwner !== connection.session) {
        this.#own.lose(id, place);
        return false;
      }
      if (!changed) place.seenOn = connection;
    }
    return true;
  }
}

const validFor = (connection: ZooKeeperConnection, { ttl }: Claim, since: number): number =>
  Math.min(ttl, connection.sureUntil - since);
