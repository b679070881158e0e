import type { Attempt, Claim, Handle, NewValue, QueueEntry, Release } from '../../core/index.ts';
import { EngineQueue } from '../shared/queue.ts';
import { overAt, readRecord, writeRecord } from '../shared/record.ts';
import { EngineTime, type StoredClaim, type Tokens } from '../shared/stored-queue.ts';
import { FileClaims } from './claims.ts';
import type { Row, Statements } from './statements.ts';

export interface TransactionContext {
  readonly prefix: string;
  /** The socket of this process. */
  readonly process: string;
  readonly tokens: Tokens;
}

const LATE = { granted: false, late: true } as const;

/** The calls of the contract, within one transaction. It collects the processes to notify after the commit. */
export class FileTransaction {
  /** Claims that were admitted because another left. */
  readonly admitted: StoredClaim[] = [];
  /** The hold that was evicted. */
  evicted: StoredClaim | undefined;
  /** The processes ahead of a new waiter, or of a claim that was refused and does not wait. */
  ahead: Iterable<string> = [];
  readonly #context: TransactionContext;
  readonly #sql: Statements;
  readonly #now: number;
  readonly #time: EngineTime;

  constructor(context: TransactionContext, sql: Statements, now: number) {
    this.#context = context;
    this.#sql = sql;
    this.#now = now;
    this.#time = new EngineTime(now);
  }

  attempt(claim: Claim, sent: number): Attempt {
    if (this.#now - sent > claim.within) return LATE;
    const { key, id, accepts } = claim;
    const act = (queue: EngineQueue): Attempt => {
      const attempt = queue.attempt(claim, this.#context.process);
      // A queue ahead only gets shorter, so all who are in the way are seen now. A claim that does not wait may come back.
      if (!attempt.granted && !attempt.value && (queue.joined || !claim.queue))
        this.ahead = this.#sql.processesAhead.all(this.#nameOf(key), id).map(({ process }) => String(process));
      return attempt;
    };
    return this.step(key, act, accepts !== undefined);
  }

  release(handle: Handle, next: Claim | undefined, sent: number, value?: NewValue): Release {
    const released = this.step(handle.key, (queue) => queue.release(handle, value), value !== undefined);
    return { ...released, next: next && this.attempt(next, sent) };
  }

  evict(key: string, isIt: (claim: StoredClaim) => boolean): boolean {
    const evicted = this.step(key, (queue) => queue.evict(isIt));
    if (evicted?.held) this.evicted = evicted;
    return evicted !== undefined;
  }

  /** Removes some claims of a dead process; true when none is left. */
  removeDead(process: string): boolean {
    const rows = this.#sql.mortal.all(process) as unknown as Row[];
    for (const { name, id } of rows) this.step(this.#keyOf(name), (queue) => queue.release({ id }));
    if (rows.length === 0) this.#sql.orphan.run(process); // the others outlive their process
    return rows.length === 0;
  }

  /** Removes some claims that have expired, of any key; true when none is left. */
  sweep(): boolean {
    const rows = this.#sql.expiredNames.all(this.#now) as unknown as Pick<Row, 'name'>[];
    for (const { name } of rows) this.step(this.#keyOf(name), () => {});
    return rows.length === 0;
  }

  inspect(prefix: string, exact: boolean): QueueEntry[] {
    const { from, to } = this.#range(prefix, exact);
    const rows = this.#sql.names.all(from, to) as unknown as Pick<Row, 'name'>[];
    const keys = rows.map(({ name }) => this.#keyOf(name));
    return keys.flatMap((key) => this.step(key, (queue) => queue.entries(key)));
  }

  /** The keys of which memos know something. */
  remembered(prefix: string): string[] {
    const { from, to } = this.#range(prefix);
    const rows = this.#sql.valueNames.all(from, to, this.#now) as unknown as Pick<Row, 'name'>[];
    return rows.map(({ name }) => this.#keyOf(name));
  }

  hint(name: string): string | undefined {
    const row = this.#sql.value.get(this.#hintNameOf(name), this.#now);
    return row && Buffer.from(row.record as Uint8Array).toString();
  }

  keepHint(name: string, text: string | undefined, ttl: number): void {
    this.#keep(this.#hintNameOf(name), text, this.#now + ttl);
  }

  /** One step of a queue. @param remembers with what memos know of the key */
  step<T>(key: string, act: (queue: EngineQueue) => T, remembers = false): T {
    const name = this.#nameOf(key);
    const value = remembers ? this.#sql.value.get(name, this.#now) : undefined;
    const record = value && readRecord(Buffer.from(value.record as Uint8Array).toString());
    const queue = new EngineQueue(this.#context.tokens, { record }, new FileClaims(this.#sql, name)).at(this.#time);
    const answer = act(queue);
    const { record: kept } = queue;
    if (kept !== record) this.#keep(name, kept && writeRecord(kept), kept && overAt(kept));
    for (const claim of queue.admitted) this.admitted.push(claim);
    return answer;
  }

  /** Removes some values that are over, too. */
  #keep(name: Uint8Array, text: string | undefined, expires = 0): void {
    this.#sql.removeExpiredValues.run(this.#now);
    if (text === undefined) this.#sql.removeValue.run(name);
    else this.#sql.keepValue.run(name, Buffer.from(text), expires);
  }

  /** No prefix has this mark, so no key has this name. */
  #hintNameOf(name: string): Uint8Array {
    return Buffer.from(`!${this.#context.prefix}/${name}`);
  }

  #nameOf(key: string): Uint8Array {
    return Buffer.from(`${this.#context.prefix}/${key}`);
  }

  #keyOf(name: Uint8Array): string {
    return Buffer.from(name).toString('utf8', Buffer.byteLength(this.#context.prefix) + 1);
  }

  /** The names of all keys that begin with `start`, or of that key. */
  #range(start: string, exact = false): { readonly from: Uint8Array; readonly to: Uint8Array } {
    const from = this.#nameOf(start);
    // No byte of UTF-8 is 0xff.
    return { from, to: Buffer.concat([from, Uint8Array.of(exact ? 0 : 0xff)]) };
  }
}
