import { type Claim, type Grant, PLACE_TTL_MS, type StoredValue, type ValueCondition } from '../../core/index.ts';
import { EngineQueue } from '../shared/queue.ts';
import { answerIn, type KeyRecord, overAt, readRecord, writeRecord } from '../shared/record.ts';
import { byRule, EngineTime, type StoredClaim, TokenCounter } from '../shared/stored-queue.ts';

/** The number of µs, the server's unit of time, in a ms. */
export const US_PER_MS = 1_000;
/** The address of a process that cannot be notified. */
export const NO_ADDRESS = '-';

export const micro = (ms: number): string => `${Math.round(ms * US_PER_MS)}`;

/** The beginning of a claim in the text of a queue. No other part of the text has an `@`, so a statement can find the claim. */
export const mark = (id: string): string => `@${encodeURIComponent(id)} `;

/** The parts of a claim's text that its process knows. A statement adds the token and the times. */
export function partsOf(
  { id, units, capacity, ttl, label }: Pick<StoredClaim, 'id' | 'units' | 'capacity' | 'ttl' | 'label'>,
  process = NO_ADDRESS,
): { mark: string; ttl: string; units: string; tail: string } {
  return {
    mark: mark(id),
    ttl: micro(ttl),
    units: ` ${units} ${capacity} ${micro(ttl)} `,
    tail: ` ${process} ${encodeURIComponent(label.toWellFormed())};`,
  };
}

function textOf(claim: StoredClaim): string {
  const { mark, units, tail } = partsOf(claim, claim.process);
  return `${mark}${micro(claim.expires!)} ${claim.token}${units}${micro(claim.joined!)}${tail}`;
}

const claimsOf = (text: string): StoredClaim[] => byRule(text.split(';').slice(0, -1).map(parse));

function parse(text: string): StoredClaim {
  const [id, expires, token, units, capacity, ttl, joined, process, label] = text.slice(1).split(' ');
  return {
    id: decodeURIComponent(id!),
    label: decodeURIComponent(label!),
    units: Number(units),
    capacity: Number(capacity),
    token: BigInt(token!),
    held: false,
    ttl: Number(ttl) / US_PER_MS,
    joined: Number(joined) / US_PER_MS,
    expires: Number(expires) / US_PER_MS,
    process: process!,
  };
}

export interface StoredRow {
  readonly queue: string;
  /** The earliest time that the server's clock may have shown at the read, ms. */
  readonly now: number;
  /** The latest time that the server's clock may have shown at the read, ms. A lease counts from this time. */
  readonly latest?: number;
  readonly token?: bigint;
  readonly value?: string;
  /** The most bytes of a queue to which a step adds a claim. */
  readonly most?: number;
}

/** The server's time at a read. The text of a claim says when it expires as a hold. While it waits, it expires earlier, since its process asks often. */
class RowTime extends EngineTime {
  readonly #touched: string | undefined;

  /** @param touched the id of a claim that a statement has just renewed, so its row need not be written */
  constructor({ now, latest }: StoredRow, touched: string | undefined) {
    super(now, latest);
    this.#touched = touched;
  }

  override remaining(claim: StoredClaim): number {
    return super.remaining(claim) - earlier(claim);
  }

  override revive(claim: StoredClaim, life: number): void {
    if (claim.id !== this.#touched || claim.expires === undefined) super.revive(claim, life + earlier(claim));
  }
}

const earlier = ({ held, ttl }: StoredClaim): number => (held ? 0 : Math.max(0, ttl - PLACE_TTL_MS));

/** The queue and the value of a key, read from its row. */
export class RowQueue extends EngineQueue {
  readonly stored: StoredRow;
  /** Whether any claim has expired since the row was written. */
  readonly expired: boolean;
  readonly #counter: TokenCounter;
  readonly #storedRecord: KeyRecord | undefined;

  constructor(stored: StoredRow, touched?: string) {
    const { queue, now, token = 0n, value = '' } = stored;
    const [counter, claims] = [new TokenCounter(token), claimsOf(queue)];
    const written = value === '' ? undefined : readRecord(value);
    const record = written && overAt(written) > now ? written : undefined;
    super(counter, claims, record);
    this.stored = stored;
    this.#counter = counter;
    this.#storedRecord = record;
    this.at(new RowTime(stored, touched));
    this.expired = Array.from(this.claims).length < claims.length;
  }

  /** The highest token that was given or reserved. */
  get token(): bigint {
    return this.#counter.last;
  }

  answerTo(accepts: ValueCondition): StoredValue | undefined {
    return answerIn(this.record, accepts, this.stored.now);
  }

  /** The token of the claim at the head of the queue. */
  get first(): bigint | undefined {
    for (const { token } of this.claims) return token;
    return undefined;
  }

  get text(): string {
    return Array.from(this.claims, textOf).join('');
  }

  get value(): string {
    if (this.record === this.#storedRecord && this.stored.value !== undefined) return this.stored.value;
    return this.record ? writeRecord(this.record) : '';
  }

  /** Whether the row has this queue and this value already. */
  get isStored(): boolean {
    return this.record === this.#storedRecord && this.text === this.stored.queue;
  }
}

export const grantOf = (token: bigint, { ttl }: Pick<Claim, 'ttl'>): Grant => ({ granted: true, token, validFor: ttl });
