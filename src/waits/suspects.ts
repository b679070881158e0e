import { type ClaimQueues, queuesAmong, type WaitsClaim } from './claims.ts';
import { type Deadlock, deadlocksIn } from './deadlocks.ts';

/** The least time between two looks that confirm a deadlock, ms. */
export const CONFIRM_MS = 200;
/** If a lease ends later than before by more than this, ms, it was renewed. A smaller difference may be rounding: etcd reports whole seconds. */
const LEASE_GRAIN_MS = 1_000;

/** When the queue of a claim was asked for, and when the answer came: ms of one clock. */
export interface AnswerTime {
  readonly began: number;
  readonly ended: number;
}

/** What is known of a claim since the first look that found it in a deadlock. */
interface Sight {
  readonly key: string;
  readonly held: boolean;
  readonly at: number;
  /** When the claim expires if it is not renewed: later looks are compared with this time. */
  expires: number;
  /** `early`: a renewal sent before the first look may come. `waiting`: a renewal is a sign of life. `alive`: renewed, or kept by its session. */
  life: 'early' | 'waiting' | 'alive';
}

/**
 * Deadlocks that a look has found, until later looks confirm them. A listing reads key after key, so it does not show one moment. But a claim that
 * holds or waits in two looks did so all the time between, since a claim waits once and holds once. And the claims of a dead process stay in the
 * queues until they expire: a wait for them ends by itself. So after the first look each process of a deadlock has to give a sign of life: one of its
 * claims is renewed. A renewal within `CONFIRM_MS` of that look does not count: the process may have sent it before it died.
 */
export class Suspects {
  #sights = new Map<string, Sight>();
  #open = false;

  /** Whether some deadlock is not confirmed yet. */
  get open(): boolean {
    return this.#open;
  }

  /** The keys of all deadlocks of the last look. */
  get keys(): string[] {
    return [...new Set([...this.#sights.values()].map(({ key }) => key))];
  }

  has(id: string): boolean {
    return this.#sights.has(id);
  }

  /**
   * Called after each look, with the claims of all keys that the look read.
   * @param momentOf when the queue of a claim was read
   * @param own the process that looks: it lives
   * @returns the deadlocks that are confirmed
   */
  look(queues: ClaimQueues, momentOf: (claim: WaitsClaim) => AnswerTime, own?: string): Deadlock[] {
    const found = deadlocksIn(queues);
    const members = found.flatMap(({ claims }) => claims).map((id) => queues.claims.get(id)!);
    this.#sights = new Map(members.map((claim) => [claim.id, this.#sightOf(claim, momentOf(claim))]));
    const living = new Set(members.filter(({ id }) => this.#sights.get(id)!.life === 'alive').map(sourceOf));
    if (own !== undefined) living.add(own);
    const proven = members.filter((claim) => {
      return living.has(sourceOf(claim)) && momentOf(claim).began >= this.#sights.get(claim.id)!.at + CONFIRM_MS;
    });
    const ids = new Set(proven.map(({ id }) => id));
    // All processes have to choose the same victim: while the victim may be dead, no other claim gives up in its place.
    const victims = new Set(found.map(({ victim }) => victim));
    const confirmed = deadlocksIn(queuesAmong(queues, [ids])[0]!, ids).filter(({ victim }) => victims.has(victim));
    this.#open = proven.length < members.length;
    return confirmed;
  }

  #sightOf({ id, key, held, remaining }: WaitsClaim, { began, ended }: AnswerTime): Sight {
    const sight = this.#sights.get(id);
    const expires = ended + remaining;
    if (sight?.key !== key || sight.held !== held)
      return { key, held, at: ended, expires, life: remaining === Number.POSITIVE_INFINITY ? 'alive' : 'early' };
    if (sight.life === 'early') {
      sight.expires = Math.max(sight.expires, expires);
      if (began >= sight.at + CONFIRM_MS) sight.life = 'waiting';
    } else if (remaining > 0 && began + remaining > sight.expires + LEASE_GRAIN_MS) sight.life = 'alive';
    return sight;
  }
}

/** The source of the signs of life of a claim: its process, if the engine lists the process. */
const sourceOf = ({ id, origin }: WaitsClaim): string => origin?.process ?? id;
