import type {
  Attempt,
  Claim,
  Grant,
  Handle,
  NewValue,
  QueueEntry,
  Release,
  Renewal,
  ValueCondition,
} from '../../core/contract/backend.ts';
import { answerIn, countedIn, leavingIn } from '../shared/record.ts';
import { Line } from './line.ts';
import type { Row, Statements } from './statements.ts';
import { KeyWords, rangeOf, rememberedIn } from './words.ts';

export interface TransactionContext {
  readonly prefix: string;
  /** The socket of this process. */
  readonly bell: string;
  /** The first of `span` new tokens. */
  draw(tokenCount: number, minToken: bigint): number;
  /** Makes all later tokens higher than this one. */
  lift(token: number): void;
}

/** The calls of the contract, within one transaction. It collects the bells to ring after the commit. */
export class FileTransaction {
  /** Claims that were admitted because another left. */
  readonly called: Row[] = [];
  /** The processes ahead of a new waiter, or of a claim that was refused and does not wait. */
  ahead: readonly string[] = [];
  readonly #context: TransactionContext;
  readonly #sql: Statements;
  readonly #now: number;

  constructor(context: TransactionContext, sql: Statements, now: number) {
    this.#context = context;
    this.#sql = sql;
    this.#now = now;
  }

  attempt(claim: Claim, sent: number): Attempt {
    if (this.#now - sent > claim.within) return { granted: false, late: true };
    const key = this.#key(claim.key);
    const line = this.#line(key);
    const mine = line.find(claim.id);
    const retryAfter = line.patience;
    if (mine?.held) {
      const held = line.raise(mine, Number(claim.minToken ?? 0n));
      if (held !== mine) this.#context.lift(held.token + claim.tokenCount - 1);
      if (held.expires < this.#now + claim.ttl) line.touch(held, claim); // never sooner than a renewal has confirmed
      return grantOf(held, claim);
    }
    if (mine && claim.queue) line.touch(mine, claim);
    else if (mine) line.remove(mine);
    else if (claim.queue || line.admits(claim)) {
      const token = this.#context.draw(claim.tokenCount, claim.minToken ?? 0n);
      if (line.join(claim, token, this.#context.bell)) return grantOf({ token }, claim);
      this.#sees(key, token);
    } else this.#sees(key, Number.MAX_SAFE_INTEGER); // it may come back, and must not find a dead holder again
    return { granted: false, retryAfter };
  }

  /** The attempt of a claim that words may answer: then it leaves its place, or its hold. */
  ask(claim: Claim, answered: ValueCondition, sent: number): Attempt {
    if (this.#now - sent > claim.within) return { granted: false, late: true };
    const words = this.words(claim.key);
    const record = words.read();
    const value = answerIn(record, answered, this.#now);
    if (value) {
      this.release(claim, undefined, sent);
      return { granted: false, value };
    }
    const came = this.attempt(claim, sent);
    const first = this.#line(this.#key(claim.key)).first;
    const { attempt, changed } = countedIn(record, claim, answered, came, this.#now, first);
    if (changed) words.write(changed);
    return attempt;
  }

  /** The line ahead only gets shorter, so all who are in the way are seen now. */
  #sees(key: Uint8Array, token: number): void {
    this.ahead = this.#sql.bellsAhead.all(key, token).map(({ bell }) => String(bell));
  }

  renew(claim: Claim): Renewal {
    const line = this.#line(this.#key(claim.key));
    const mine = line.find(claim.id);
    if (!mine?.held) return 'gone';
    line.touch(mine, claim);
    return { validFor: claim.ttl };
  }

  release(handle: Handle, next: Claim | undefined, sent: number, leave?: NewValue): Release {
    const line = this.#line(this.#key(handle.key));
    const mine = line.find(handle.id);
    const stored = leave !== undefined && mine?.held === 1;
    if (stored) this.words(handle.key).write(leavingIn(BigInt(mine.token), leave, this.#now));
    if (mine) line.remove(mine);
    return { freed: mine !== undefined, next: next && this.attempt(next, sent), ...(leave && { stored }) };
  }

  note(name: string): string | undefined {
    const row = this.#sql.note.get(this.#key(name), this.#now);
    return row && Buffer.from(row.text as Uint8Array).toString();
  }

  keep(name: string, text: string | undefined, ttl: number): void {
    this.#sql.forget.run(this.#key(name), this.#now);
    if (text !== undefined) this.#sql.noteDown.run(this.#key(name), text, this.#now + ttl);
  }

  evict(key: string, token: bigint): boolean {
    const line = this.#line(this.#key(key));
    const found = line.at(Number(token));
    if (found) line.remove(found);
    return found !== undefined;
  }

  /** The grant of a waiting claim, if it was admitted. */
  grant(claim: Claim): Grant | undefined {
    const mine = this.#line(this.#key(claim.key)).find(claim.id);
    return mine?.held ? grantOf(mine, claim) : undefined;
  }

  /** Removes some claims of a dead process; true when none is left. */
  removeDead(bell: string): boolean {
    const rows = this.#sql.mortal.all(bell) as unknown as Row[];
    for (const { key, token } of rows) {
      const line = this.#line(key);
      const row = line.at(token);
      if (row) line.remove(row);
    }
    if (rows.length === 0) this.#sql.orphan.run(bell); // the others outlive their process
    return rows.length === 0;
  }

  /** Removes some claims that have expired, of any key; true when none is left. */
  sweep(): boolean {
    const keys = this.#sql.expiredKeys.all(this.#now) as unknown as Pick<Row, 'key'>[];
    for (const { key } of keys) this.#line(key);
    return keys.length === 0;
  }

  inspect(prefix: string, exact: boolean): QueueEntry[] {
    const { from, to, start } = rangeOf(this.#context.prefix, prefix, exact);
    let last: QueueEntry | undefined;
    return (this.#sql.range.all(from, to) as unknown as (Row & { readonly words: Uint8Array })[]).map((row) => {
      const key = Buffer.from(row.key).toString('utf8', start);
      const { units, capacity, words } = row;
      last = {
        ...{ key, held: row.held === 1, position: key === last?.key ? last.position + 1 : 0 },
        ...{ token: BigInt(row.token), units, capacity, label: Buffer.from(words).toString() },
        ...{ since: this.#now - row.joined, remaining: row.expires - this.#now },
      };
      return last;
    });
  }

  remembered(prefix: string): string[] {
    return rememberedIn(this.#sql, rangeOf(this.#context.prefix, prefix), this.#now);
  }

  /** What is left under a key. */
  words(key: string): KeyWords {
    return new KeyWords(this.#sql, this.#key(key), this.#now);
  }

  #key(key: string): Uint8Array {
    return Buffer.from(`${this.#context.prefix}/${key}`);
  }

  #line(key: Uint8Array): Line {
    return new Line(this.#sql, key, this.#now, this.called);
  }
}

const grantOf = ({ token }: Pick<Row, 'token'>, { ttl }: Claim): Grant => ({
  granted: true,
  token: BigInt(token),
  validFor: ttl,
});
