/**
 * The queue of one key, as pure steps. An engine reads the queue, lets a step change it, and stores it, all in one atomic step of its own.
 * Nothing here waits, or acts outside the queue, so a step may be thrown away and decided again.
 */
import {
  type Attempt,
  type Claim,
  type Grant,
  type Hints,
  type LockError,
  type NewValue,
  placeTtlOf,
  type QueueEntry,
  type Refusal,
  type Renewal,
  type ValueRecord,
  type Values,
} from '../../core/index.ts';
import { hintKey } from './names.ts';
import { QueuedClaims } from './queued-claims.ts';
import { answerIn, countedIn, type KeyRecord, overAt, recordWith, valueRecordOf } from './record.ts';
import { entriesOf, type QueueTime, type StoredClaim, type Tokens } from './stored-queue.ts';

/**
 * Gives how long a claim that waits lives without another attempt, ms. An attempt renews this time, if less than `renewAt` ms of it remain.
 * @param mine the claim in the queue, if it is there
 */
type PlaceRule = (claim: Claim, mine?: StoredClaim) => { readonly life: number; readonly renewAt: number };

const usualPlace: PlaceRule = (claim) => ({ life: placeTtlOf(claim), renewAt: placeTtlOf(claim) });

/** The answer to an attempt that came after its `within`. */
export const TOO_LATE = { granted: false, late: true } as const;

/** The steps of the contract on one queue. Call `at` before each step. */
export class EngineQueue {
  /** The claim that the last attempt brought into the queue. */
  joined: StoredClaim | undefined;
  protected readonly placeOf: PlaceRule = usualPlace;
  readonly #claims: QueuedClaims;
  readonly #tokens: Tokens;
  #record: KeyRecord | undefined;
  #recordChanged = false;

  constructor(tokens: Tokens, claims: Iterable<StoredClaim> = [], record?: KeyRecord) {
    this.#tokens = tokens;
    this.#claims = claims instanceof QueuedClaims ? claims : new QueuedClaims(claims);
    this.#record = record;
  }

  /** Begins a step: removes what has expired by now. */
  at(time: QueueTime): this {
    this.#claims.at(time);
    if (this.#record && overAt(this.#record) <= time.now) this.#record = undefined;
    return this;
  }

  get claims(): Iterable<StoredClaim> {
    return this.#claims;
  }

  get record(): KeyRecord | undefined {
    return this.#record;
  }

  /** The claims that were admitted because others left or expired. The engine has to notify them. */
  get admitted(): StoredClaim[] {
    return this.#claims.admitted;
  }

  /** Whether a step has changed the queue, other than by an expiry alone. */
  get changed(): boolean {
    return this.#recordChanged || this.#claims.changed;
  }

  get idle(): boolean {
    return !this.#claims.first && !this.#record;
  }

  find(id: string): StoredClaim | undefined {
    return this.#claims.find(id);
  }

  /** @param process the address of the claim's process */
  attempt(claim: Claim, process?: string): Attempt {
    const { accepts } = claim;
    if (!accepts) return this.#attempt(claim, process);
    const { now } = this.#claims.time;
    const value = answerIn(this.#record, accepts, now);
    if (value) {
      this.release(claim);
      return { granted: false, value };
    }
    const answer = this.#attempt(claim, process);
    const { attempt, changed } = countedIn(this.#record, claim, accepts, answer, now, this.#claims.first?.token);
    if (changed) this.#keep(changed);
    return attempt;
  }

  /** @param kept the reason, if the claim keeps its old ttl */
  renew({ id, ttl }: Pick<Claim, 'id' | 'ttl'>, kept?: LockError): Renewal {
    const mine = this.find(id);
    if (!mine?.held) return 'gone';
    if (!kept) mine.ttl = ttl;
    this.#claims.revive(mine, mine.ttl);
    return { validFor: mine.ttl, ...(kept && { kept }) };
  }

  /** Removes the claim. @returns whether there was one */
  release({ id }: Pick<Claim, 'id'>): boolean {
    const mine = this.find(id);
    if (mine) this.#claims.leave(mine);
    return mine !== undefined;
  }

  /** Removes the claim. If the claim holds, the same step stores the value. @returns whether the value was stored */
  store({ id }: Pick<Claim, 'id'>, value: NewValue): boolean {
    const mine = this.find(id);
    if (mine?.held) this.#keep(recordWith(mine.token, value, this.#claims.time.now));
    this.release({ id });
    return mine?.held === true;
  }

  /** @returns the claim that it removed */
  evict(isIt: (claim: StoredClaim) => boolean): StoredClaim | undefined {
    const found = [...this.#claims].find(isIt);
    if (found) this.#claims.leave(found);
    return found;
  }

  look(): ValueRecord {
    return valueRecordOf(this.#record, this.#claims.time.now);
  }

  /** Stores a value outside of any hold. Without `value`, forgets the value and the attempts. @returns whether there was a record */
  keep(value?: NewValue): boolean {
    const known = this.#record !== undefined;
    if (known || value) this.#keep(value && recordWith(0n, value, this.#claims.time.now));
    return known;
  }

  entries(key: string): QueueEntry[] {
    const { time } = this.#claims;
    const listed = Array.from(this.#claims, (claim) => listedAt(time, claim));
    return entriesOf(key, listed);
  }

  #attempt(claim: Claim, process: string | undefined): Attempt {
    this.joined = undefined;
    const mine = this.find(claim.id);
    if (mine) return mine.held ? this.#confirm(mine, claim) : this.#wait(mine, claim);
    const held = this.#claims.admits(claim);
    if (!held && !claim.queue) return this.#claims.refusal();
    const { id, units, capacity, label, ttl, tokenCount, minToken = 0n, lingers } = claim;
    const token = this.#tokens.reserve(tokenCount, minToken);
    const newcomer: StoredClaim = { id, units, capacity, label, token, held, ttl, process, lingers };
    this.joined = newcomer;
    this.#claims.join(newcomer, held ? ttl : this.placeOf(claim).life);
    return held ? { granted: true, token, validFor: ttl } : this.#claims.refusal(newcomer);
  }

  /** This attempt may be an old message, sent before a renewal. So it never makes the hold expire earlier than the renewal has set. */
  #confirm(mine: StoredClaim, { ttl, minToken = 0n, tokenCount }: Claim): Grant {
    this.#claims.revive(mine, Math.max(this.#claims.time.remaining(mine), ttl));
    if (minToken > mine.token) {
      this.#claims.raise(mine, minToken);
      this.#tokens.pass(mine.token + BigInt(tokenCount) - 1n);
    }
    return { granted: true, token: mine.token, validFor: ttl };
  }

  #wait(mine: StoredClaim, claim: Claim): Refusal {
    const { life, renewAt } = this.placeOf(claim, mine);
    if (this.#claims.time.remaining(mine) < renewAt) this.#claims.revive(mine, life);
    const refusal = this.#claims.refusal(mine);
    if (!claim.queue) this.#claims.leave(mine);
    return refusal;
  }

  #keep(record: KeyRecord | undefined): void {
    this.#record = record;
    this.#recordChanged = true;
  }
}

const listedAt = (time: QueueTime, claim: StoredClaim) => ({
  ...claim,
  remaining: time.remaining(claim),
  since: claim.joined === undefined ? undefined : time.now - claim.joined,
});

/** Makes one step of the queue of a key. */
type QueueStep = <T>(key: string, act: (queue: EngineQueue) => T) => Promise<T>;

/** The values of an engine that applies these steps. */
export const valuesBy = (step: QueueStep, keys: NonNullable<Values['keys']>): Values => ({
  look: (key) => step(key, (queue) => queue.look()),
  forget: (key) => step(key, (queue) => queue.keep()),
  keys,
});

/** Hints are values of keys that nobody can lock. */
export const hintsBy = (step: QueueStep): Hints => ({
  read: async (name) => (await step(hintKey(name), (queue) => queue.look())).value?.text,
  write: async (name, text, ttl) => {
    await step(hintKey(name), (queue) => queue.keep(text === undefined ? undefined : { text, ttl }));
  },
});
