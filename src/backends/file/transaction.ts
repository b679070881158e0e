import type { Attempt, Claim, Handle, NewValue, QueueEntry, Release } from '../../core/index.ts';
import type { StoredNames } from '../shared/names.ts';
import { EngineQueue, TOO_LATE } from '../shared/queue.ts';
import { QueuedClaims } from '../shared/queued-claims.ts';
import { overAt, readRecord, writeRecord } from '../shared/record.ts';
import { EngineTime, type StoredClaim, type Tokens } from '../shared/stored-queue.ts';
import type { ClaimRow, Statements } from './statements.ts';

export interface TransactionContext {
  readonly names: StoredNames;
  /** The socket of this process. */
  readonly process: string;
  readonly tokens: Tokens;
  /** The claims of each name, as this process read or wrote them last. */
  readonly known: Map<string, FileClaims>;
  /** Gives a version that no queue has had. */
  readonly newVersion: () => string;
}

/**
 * The claims of one key, as this process read or wrote them last. They are current while the queue's first row has the same version. So a process
 * that is alone with a queue reads only that version, however long the queue is. Measured with 64 claims: a queue stored as one text costs
 * six times as much; a queue that is read again after each change of the file (`PRAGMA data_version`) three to seven times.
 */
export class FileClaims extends QueuedClaims {
  readonly #sql: Statements;
  readonly #name: Uint8Array;
  readonly #newVersion: () => string;
  #version: string | undefined;
  /** The version that the queue gets by the step under way; undefined until something changes. */
  #next: string | undefined;
  /** The claims that the step under way has written. */
  readonly #written = new Set<StoredClaim>();

  constructor(sql: Statements, name: Uint8Array, newVersion: () => string) {
    const rows = sql.claims.all(name) as unknown as ClaimRow[];
    super(rows.map(claimOf));
    this.#sql = sql;
    this.#name = name;
    this.#newVersion = newVersion;
    this.#version = rows[0]?.version;
  }

  /** Whether no other process has changed the queue since this one read or wrote it. */
  get current(): boolean {
    return (this.#sql.version.get(this.#name) as ClaimRow | undefined)?.version === this.#version;
  }

  override revive(claim: StoredClaim, life: number): void {
    super.revive(claim, life);
    this.#write(claim);
  }

  /** Rows are in the order of tokens, so only the last claim can get a higher token. Only a quorum raises tokens, and its queues have one claim. */
  override raise(claim: StoredClaim, token: bigint): void {
    if ([...this].at(-1) !== claim) return;
    this.#sql.remove.run(this.#name, claim.token);
    super.raise(claim, token);
    this.#write(claim);
  }

  protected override remove(claim: StoredClaim): void {
    super.remove(claim);
    this.#next ??= this.#newVersion();
    this.#sql.remove.run(this.#name, claim.token);
  }

  stamp(): void {
    if (this.#next === undefined) return;
    const { first } = this;
    if (first && !this.#written.has(first)) this.#sql.stamp.run(this.#next, this.#name, first.token);
    this.#version = first && this.#next;
    this.#next = undefined;
    this.#written.clear();
  }

  #write(claim: StoredClaim): void {
    const { token, id, label, units, capacity, ttl, joined, expires, held, lingers, process = '' } = claim;
    this.#next ??= this.#newVersion();
    this.#written.add(claim);
    this.#sql.keep.run(
      ...[this.#name, token, id, JSON.stringify(label), units, capacity, ttl, joined!, expires!],
      ...[Number(held), Number(lingers ?? false), process, this.#next],
    );
  }
}

/** Copies each field by itself: a spread takes three times as long. */
const claimOf = (row: ClaimRow): StoredClaim => ({
  id: row.id,
  label: JSON.parse(row.label),
  units: row.units,
  capacity: row.capacity,
  token: BigInt(row.token),
  held: row.held === 1,
  ttl: row.ttl,
  joined: row.joined,
  expires: row.expires,
  process: row.process,
  lingers: row.lingers === 1,
});

/** The calls of the contract, within one transaction. It collects what the caller needs for messages after the commit. */
export class FileTransaction {
  /** Claims that were admitted because another claim left. */
  readonly admitted: StoredClaim[] = [];
  /** The hold that was evicted. */
  evicted: StoredClaim | undefined;
  /** The processes ahead of a new waiter, or of a claim that was refused and does not wait. */
  ahead: Iterable<string> = [];
  readonly #context: TransactionContext;
  readonly #sql: Statements;
  readonly #time: EngineTime;

  constructor(context: TransactionContext, sql: Statements, now: number) {
    this.#context = context;
    this.#sql = sql;
    this.#time = new EngineTime(now);
  }

  attempt(claim: Claim, sent: number): Attempt {
    if (this.#time.now - sent > claim.within) return TOO_LATE;
    const { key, id, accepts } = claim;
    const act = (queue: EngineQueue): Attempt => {
      const attempt = queue.attempt(claim, this.#context.process);
      // Later the queue ahead of a waiter only gets shorter, so one look at the join is enough. A claim that does not wait looks at each attempt.
      if (!attempt.granted && !attempt.value && (queue.joined || !claim.queue))
        this.ahead = new Set(
          Array.from(queue.claims, (other) => (other.id !== id && other.process) || '').filter(Boolean),
        );
      return attempt;
    };
    return this.step(key, act, accepts !== undefined);
  }

  release(handle: Handle, next: Claim | undefined, sent: number): Release {
    const freed = this.step(handle.key, (queue) => queue.release(handle));
    return { freed, next: next && this.attempt(next, sent) };
  }

  store(handle: Handle, value: NewValue): boolean {
    return this.step(handle.key, (queue) => queue.store(handle, value), true);
  }

  evict(key: string, isIt: (claim: StoredClaim) => boolean): boolean {
    const evicted = this.step(key, (queue) => queue.evict(isIt));
    if (evicted?.held) this.evicted = evicted;
    return evicted !== undefined;
  }

  /** Removes some claims of a dead process. @returns whether all of them are gone */
  removeDead(process: string): boolean {
    const rows = this.#sql.mortal.all(process) as unknown as ClaimRow[];
    for (const { name, id } of rows) this.#stepOf(name, (queue) => queue.release({ id }));
    if (rows.length === 0) this.#sql.orphan.run(this.#context.newVersion(), process, process);
    return rows.length === 0;
  }

  /** Removes some claims that have expired, of any key. @returns whether all of them are gone */
  sweep(): boolean {
    const rows = this.#sql.expiredNames.all(this.#time.now) as unknown as ClaimRow[];
    for (const { name } of rows) this.#stepOf(name, () => {});
    return rows.length === 0;
  }

  inspect(prefix: string, exact: boolean): QueueEntry[] {
    const { from, to } = this.#context.names.range(prefix, exact);
    const keys = this.#keysIn(this.#sql.names.all(from, to));
    return keys.flatMap((key) => this.step(key, (queue) => queue.entries(key)));
  }

  /** The keys with a value, or with holds that stored none. */
  keysWithValues(prefix: string): string[] {
    const { from, to } = this.#context.names.range(prefix);
    return this.#keysIn(this.#sql.valueNames.all(from, to, this.#time.now));
  }

  #keysIn(rows: unknown[]): string[] {
    return (rows as Pick<ClaimRow, 'name'>[]).map(({ name }) => this.#context.names.keyOf(name));
  }

  /** One step of a queue. @param remembers whether the step may need the record of the key */
  step<T>(key: string, act: (queue: EngineQueue) => T, remembers?: boolean): T {
    return this.#stepOf(this.#context.names.of(key), act, remembers);
  }

  /** The name may have the prefix of another program: programs with different prefixes may share the file. */
  #stepOf<T>(name: Uint8Array, act: (queue: EngineQueue) => T, remembers = false): T {
    const value = remembers ? this.#sql.value.get(name, this.#time.now) : undefined;
    const record = value && readRecord(Buffer.from(value.record as Uint8Array).toString());
    const claims = this.#claimsOf(name);
    const queue = new EngineQueue(this.#context.tokens, claims, record).at(this.#time);
    const answer = act(queue);
    claims.stamp();
    const { record: kept } = queue;
    if (kept !== record) this.#keep(name, kept && writeRecord(kept), kept && overAt(kept));
    for (const claim of queue.admitted.splice(0)) this.admitted.push(claim);
    return answer;
  }

  #claimsOf(name: Uint8Array): FileClaims {
    const { known, newVersion } = this.#context;
    const id = Buffer.from(name).toString('latin1');
    const before = known.get(id);
    const claims = before?.current ? before : new FileClaims(this.#sql, name, newVersion);
    known.set(id, claims);
    return claims;
  }

  /** Stores the record of a key, or removes it. Removes some expired values, too. */
  #keep(name: Uint8Array, text: string | undefined, expires = 0): void {
    this.#sql.removeExpiredValues.run(this.#time.now);
    if (text === undefined) this.#sql.removeValue.run(name);
    else this.#sql.keepValue.run(name, Buffer.from(text), expires);
  }
}
