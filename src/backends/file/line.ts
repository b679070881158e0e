import { ALL_UNITS, admitted, type Units } from '../../core/contract/admission.ts';
import type { Claim } from '../../core/contract/backend.ts';
import { placeTtlOf } from '../../core/contract/lengths.ts';
import type { Row, Statements } from './statements.ts';

interface Tally {
  taken: number;
  room: number;
  waiting: number | null;
  soonest: number;
}

/** The rule takes all admitted claims for one: it takes all their units, of the smallest room among them. */
const fits = ({ taken, room }: Tally, seats: Units): boolean =>
  admitted([{ units: taken, capacity: room }, seats]) === 2;

const EMPTY: Tally = { taken: 0, room: ALL_UNITS, waiting: null, soonest: Number.POSITIVE_INFINITY };

/**
 * The line of one key, within one transaction. Its head has the tally of the admitted claims, so joining and leaving cost the same in
 * a long line as in a short one. Claims that have expired are removed first.
 */
export class Line {
  readonly #sql: Statements;
  readonly #key: Uint8Array;
  readonly #now: number;
  readonly #called: Row[];
  #head: Row | undefined;
  #tally: Tally = { ...EMPTY };

  /** @param called gets the claims that are admitted because another leaves: they must be told */
  constructor(sql: Statements, key: Uint8Array, now: number, called: Row[]) {
    this.#sql = sql;
    this.#key = key;
    this.#now = now;
    this.#called = called;
    this.#head = sql.head.get(key) as Row | undefined;
    if (!this.#head) return;
    const { taken, room, waiting, soonest } = this.#head;
    this.#tally = { taken: taken ?? 0, room: room ?? ALL_UNITS, waiting, soonest: soonest ?? 0 };
    if (this.#tally.soonest <= now) this.#expire();
  }

  /** ms until a claim may expire. */
  get patience(): number {
    return this.#tally.soonest - this.#now;
  }

  /** The token of the claim that stands first. */
  get first(): bigint | undefined {
    return this.#head && BigInt(this.#head.token);
  }

  find(id: string): Row | undefined {
    if (!this.#head || this.#head.id === id) return this.#head;
    const row = this.#sql.byId.get(id) as Row | undefined;
    return row && Buffer.compare(row.key, this.#key) === 0 ? row : undefined;
  }

  at(token: number): Row | undefined {
    return this.#sql.byToken.get(this.#key, token) as Row | undefined;
  }

  admits(claim: Claim): boolean {
    return this.#tally.waiting === null && fits(this.#tally, claim);
  }

  /** @returns whether it is admitted at once */
  join(claim: Claim, token: number, bell: string): boolean {
    const held = this.admits(claim);
    const expires = this.#now + leaseOf(claim, held);
    const tally = this.#tally;
    if (held) this.#count(claim);
    else tally.waiting ??= token;
    tally.soonest = Math.min(tally.soonest, expires);
    const head = this.#head === undefined;
    const { id, label, units, capacity, ttl } = claim;
    const lingers = Number(claim.lingers ?? false);
    this.#sql.insert.run(
      ...[
        this.#key,
        token,
        id,
        label,
        units,
        capacity,
        ttl,
        this.#now,
        expires,
        Number(held),
        lingers,
        bell,
        Number(head),
      ],
      ...(head ? [tally.taken, tally.room, tally.waiting, tally.soonest] : [null, null, null, null]),
    );
    if (!head) this.#write();
    return held;
  }

  /** A sign of life. */
  touch(row: Row, claim: Claim): void {
    const expires = this.#now + leaseOf(claim, row.held === 1);
    this.#sql.live.run(expires, this.#key, row.token);
    if (expires >= this.#tally.soonest) return;
    this.#tally.soonest = expires;
    this.#write();
  }

  /** Gives a claim a higher token. A token is a place here, so this works only in a line of one; a quorum's lines always are. */
  raise(row: Row, token: number): Row {
    if (token <= row.token || this.#head?.token !== row.token || this.#after(row.token) !== null) return row;
    this.#sql.raise.run(token, this.#key, row.token);
    this.#head = { ...this.#head, token };
    return this.#head;
  }

  remove(row: Row): void {
    this.#sql.remove.run(this.#key, row.token);
    const tally = this.#tally;
    if (tally.waiting === row.token) tally.waiting = this.#after(row.token);
    if (row.token === this.#head?.token) this.#head = this.#sql.head.get(this.#key) as Row | undefined;
    if (!this.#head) {
      this.#tally = { ...EMPTY };
      return;
    }
    if (row.held) {
      tally.taken -= row.units;
      if (row.capacity === tally.room && !(this.#head.held && this.#head.capacity === row.capacity))
        tally.room = this.#room();
    }
    this.#admit();
    this.#write();
  }

  #admit(): void {
    const tally = this.#tally;
    while (tally.waiting !== null) {
      const next = this.at(tally.waiting)!;
      if (!fits(tally, next)) return;
      const expires = this.#now + next.ttl;
      this.#sql.admit.run(expires, this.#key, next.token);
      tally.soonest = Math.min(tally.soonest, expires);
      if (next.token === this.#head?.token) this.#head = { ...next, held: 1 };
      this.#count(next);
      this.#called.push(next);
      tally.waiting = this.#after(next.token);
    }
  }

  /** From the back, so that no claim is admitted that has expired. */
  #expire(): void {
    for (const row of this.#sql.expired.all(this.#key, this.#now) as unknown as Row[]) this.remove(row);
    if (!this.#head) return;
    this.#tally.soonest = (this.#sql.soonest.get(this.#key) as { soonest: number }).soonest;
    this.#write();
  }

  #count(seats: Units): void {
    this.#tally.taken += seats.units;
    this.#tally.room = Math.min(this.#tally.room, seats.capacity);
  }

  /** The waiting claims are the end of the line: behind one of them comes another, or nobody. */
  #after(token: number): number | null {
    return (this.#sql.after.get(this.#key, token) as Row | undefined)?.token ?? null;
  }

  #room(): number {
    return (this.#sql.room.get(this.#key) as { room: number | null }).room ?? ALL_UNITS;
  }

  #write(): void {
    const { taken, room, waiting, soonest } = this.#tally;
    this.#sql.tally.run(taken, room, waiting, soonest, this.#key, this.#head!.token);
  }
}

const leaseOf = (claim: Claim, held: boolean): number => (held ? claim.ttl : placeTtlOf(claim));
