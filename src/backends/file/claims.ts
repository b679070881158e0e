import { ALL_UNITS, type Refusal, type Units } from '../../core/index.ts';
import type { Claims } from '../shared/queued-claims.ts';
import { admits, type QueueTime, type StoredClaim } from '../shared/stored-queue.ts';
import type { Row, Statements } from './statements.ts';

interface Tally {
  taken: number;
  room: number;
  waiting: number | null;
  soonest: number;
}

const EMPTY: Tally = { taken: 0, room: ALL_UNITS, waiting: null, soonest: Number.POSITIVE_INFINITY };

/** The rule takes all admitted claims for one: it takes all their units, of the smallest capacity among them. */
const fits = ({ taken, room }: Tally, units: Units): boolean => admits([{ units: taken, capacity: room }], units);

/**
 * The claims of one key as rows, within one transaction. The head has the tally of the admitted claims, so a step reads and writes the same
 * in a long queue as in a short one: a queue stored as one text cost six times as much with 64 claims, and thirty times with 1,000.
 */
export class FileClaims implements Claims {
  readonly admitted: StoredClaim[] = [];
  changed = false;
  time!: QueueTime;
  readonly #sql: Statements;
  readonly #name: Uint8Array;
  #head: StoredClaim | undefined;
  #tally: Tally = { ...EMPTY };

  constructor(sql: Statements, name: Uint8Array) {
    this.#sql = sql;
    this.#name = name;
  }

  get first(): StoredClaim | undefined {
    return this.#head;
  }

  *[Symbol.iterator](): Generator<StoredClaim, void, undefined> {
    for (const row of this.#sql.claims.all(this.#name) as unknown as (Row & { readonly bytes: Uint8Array })[])
      yield { ...claimOf(row), label: Buffer.from(row.bytes).toString() };
  }

  at(time: QueueTime): void {
    this.time = time;
    const head = this.#sql.head.get(this.#name) as Row | undefined;
    if (!head) return;
    this.#head = claimOf(head);
    const { taken, room, waiting, soonest } = head;
    this.#tally = { taken: taken ?? 0, room: room ?? ALL_UNITS, waiting, soonest: soonest ?? 0 };
    if (this.#tally.soonest <= time.now) this.#expire();
  }

  find(id: string): StoredClaim | undefined {
    if (!this.#head || this.#head.id === id) return this.#head;
    const row = this.#sql.byId.get(id) as Row | undefined;
    return row && Buffer.compare(row.name, this.#name) === 0 ? claimOf(row) : undefined;
  }

  admits(units: Units): boolean {
    return this.#tally.waiting === null && fits(this.#tally, units);
  }

  join(claim: StoredClaim, life: number): void {
    this.time.revive(claim, life);
    const tally = this.#tally;
    if (claim.held) this.#count(claim);
    else tally.waiting ??= Number(claim.token);
    tally.soonest = Math.min(tally.soonest, claim.expires!);
    const isFirst = this.#head === undefined;
    const { token, id, label, units, capacity, ttl, joined, expires, held, lingers, process = '' } = claim;
    this.#sql.insert.run(
      ...[this.#name, token, id, label, units, capacity, ttl, joined!, expires!],
      ...[Number(held), Number(lingers ?? false), process, Number(isFirst)],
      ...(isFirst ? [tally.taken, tally.room, tally.waiting, tally.soonest] : [null, null, null, null]),
    );
    if (isFirst) this.#head = claim;
    else this.#writeTally();
  }

  revive(claim: StoredClaim, life: number): void {
    const before = claim.expires;
    this.time.revive(claim, life);
    if (claim.expires === before) return;
    this.#sql.revive.run(claim.expires!, this.#name, claim.token);
    if (claim.expires! >= this.#tally.soonest) return;
    this.#tally.soonest = claim.expires!;
    this.#writeTally();
  }

  /** A token is a place here, so this works only in a queue of one; a quorum's queues always are. */
  raise(claim: StoredClaim, token: bigint): void {
    if (this.#head?.token !== claim.token || this.#after(claim.token) !== null) return;
    this.#sql.raise.run(token, this.#name, claim.token);
    claim.token = token;
    this.#head = claim;
  }

  leave(claim: StoredClaim): void {
    this.#sql.remove.run(this.#name, claim.token);
    const tally = this.#tally;
    if (tally.waiting === Number(claim.token)) tally.waiting = this.#after(claim.token);
    if (claim.token === this.#head?.token) {
      const head = this.#sql.head.get(this.#name) as Row | undefined;
      this.#head = head && claimOf(head);
    }
    if (!this.#head) {
      this.#tally = { ...EMPTY };
      return;
    }
    if (claim.held) {
      tally.taken -= claim.units;
      if (claim.capacity === tally.room && !(this.#head.held && this.#head.capacity === claim.capacity))
        tally.room = this.#room();
    }
    this.#admit();
    this.#writeTally();
  }

  refusal(): Refusal {
    return { granted: false, retryAfter: this.#tally.soonest - this.time.now };
  }

  #admit(): void {
    const tally = this.#tally;
    while (tally.waiting !== null) {
      const next = claimOf(this.#sql.byToken.get(this.#name, tally.waiting) as unknown as Row);
      if (!fits(tally, next)) return;
      next.held = true;
      this.time.revive(next, next.ttl);
      this.#sql.admit.run(next.expires!, this.#name, next.token);
      tally.soonest = Math.min(tally.soonest, next.expires!);
      if (next.token === this.#head?.token) this.#head = next;
      this.#count(next);
      this.admitted.push(next);
      tally.waiting = this.#after(next.token);
    }
  }

  /** From the back, so that no claim is admitted that has expired. */
  #expire(): void {
    const rows = this.#sql.expired.all(this.#name, this.time.now) as unknown as Row[];
    for (const row of rows) this.leave(claimOf(row));
    if (!this.#head) return;
    this.#tally.soonest = (this.#sql.soonest.get(this.#name) as { soonest: number }).soonest;
    this.#writeTally();
  }

  #count({ units, capacity }: Units): void {
    this.#tally.taken += units;
    this.#tally.room = Math.min(this.#tally.room, capacity);
  }

  /** The waiting claims are the end of the queue: behind one of them comes another, or none. */
  #after(token: bigint): number | null {
    return (this.#sql.after.get(this.#name, token) as Pick<Row, 'token'> | undefined)?.token ?? null;
  }

  #room(): number {
    return (this.#sql.room.get(this.#name) as { room: number | null }).room ?? ALL_UNITS;
  }

  #writeTally(): void {
    const { taken, room, waiting, soonest } = this.#tally;
    this.#sql.tally.run(taken, room, waiting, soonest, this.#name, this.#head!.token);
  }
}

function claimOf({
  id,
  label,
  units,
  capacity,
  ttl,
  joined,
  expires,
  token,
  held,
  lingers,
  process,
}: Row): StoredClaim {
  const [isHeld, isLingering] = [held === 1, lingers === 1];
  const times = { ttl, joined, expires };
  return { id, label, units, capacity, token: BigInt(token), held: isHeld, ...times, process, lingers: isLingering };
}
