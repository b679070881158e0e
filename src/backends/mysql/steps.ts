import {
  type Attempt,
  type Claim,
  type Handle,
  isLockError,
  KeyedSerializer,
  type NewValue,
  type Release,
  type ValueCondition,
} from '../../core/index.ts';
import type { Poller } from './poller.ts';
import type { Queues } from './queues.ts';
import * as sql from './sql.generated.ts';
import type { NamedValues } from './statements.ts';
import { grantOf, mark, NO_ADDRESS, partsOf, type RowQueue } from './stored-queue.ts';
import type { Table } from './table.ts';
import type { ServerWakeUps } from './wake-ups.ts';

/** The bits in the answer to `leave`: the claim had not expired; others are in the queue. */
const [ALIVE, OTHERS] = [1, 2];

/**
 * The steps of claims. The most frequent steps take one statement, which reads nothing first: a claim joins, leaves, leaves while another
 * one joins, or is renewed. For all other steps, we read the queue, and `RowQueue` decides.
 */
export class QueueSteps {
  protected readonly queues: Queues;
  protected readonly poller: Poller;
  protected readonly gate: ServerWakeUps | undefined;
  readonly #table: Table;
  /** Steps of one claim come one after the other: an attempt takes several statements, and a release must not come between two of them. */
  readonly #turns = new KeyedSerializer();
  /** The ids of claims that were refused and are in their queues, so they need not join again. */
  readonly #queued = new Set<string>();

  constructor(queues: Queues, poller: Poller, gate: ServerWakeUps | undefined) {
    this.#table = queues.table;
    this.queues = queues;
    this.poller = poller;
    this.gate = gate;
  }

  attempt(claim: Claim): Promise<Attempt> {
    const sent = this.#table.server.clock.now();
    return this.#turns.take(claim.id, async () => {
      await this.#table.ready();
      return this.#ask(claim, this.#table.limit(claim.within, sent));
    });
  }

  release(handle: Handle, next?: Claim): Promise<Release> {
    const sent = this.#table.server.clock.now();
    const release = async (): Promise<Release> => {
      await this.#table.ready();
      if (!next) return { freed: await this.#leave(handle) };
      const notAfter = this.#table.limit(next.within, sent);
      const exchanged = !next.accepts && (await this.#exchange(handle, next, notAfter));
      if (exchanged) return { freed: true, next: exchanged };
      return { freed: await this.#leave(handle), next: await this.#ask(next, notAfter) };
    };
    const inTurn = () => this.#turns.take(handle.id, release);
    return next ? this.#turns.take(next.id, inTurn) : inTurn();
  }

  store({ id, key }: Handle, value: NewValue): Promise<boolean> {
    return this.#turns.take(id, async () => {
      await this.#table.ready();
      this.#giveUp(id);
      const act = (queue: RowQueue) => ({ stored: queue.store({ id }, value), first: queue.first });
      const { stored, first } = (await this.queues.step(this.queues.names.of(key), act))!;
      if (first !== undefined) this.#notifyOthers(key);
      return stored;
    });
  }

  async evict(key: string, token: bigint): Promise<boolean> {
    const queue = await this.queues.open(this.queues.names.of(key));
    const found = [...queue.claims].find((claim) => claim.token === token);
    const evicted = found !== undefined && (await this.#leave({ key, id: found.id }));
    if (evicted) {
      this.poller.hurry();
      this.gate?.wake([found.process!]).catch(() => {}); // that process learns of its eviction at its next poll, too
    }
    return evicted;
  }

  async #ask(claim: Claim, notAfter: string): Promise<Attempt> {
    const wasQueued = this.#queued.delete(claim.id);
    const answer = claim.accepts && (await this.#answerTo(claim, claim.accepts));
    if (answer) return answer;
    if (wasQueued) return this.#decide(claim, notAfter, (await this.queues.touch([claim], notAfter, '1')) === 1);
    const values = { ...this.#newcomer(claim, notAfter), waits: claim.queue ? '1' : '0' };
    const header = await this.#table.write(sql.join, values);
    const token = BigInt(header.insertId);
    if (header.affectedRows > 0 && token && !claim.accepts) return grantOf(token, claim);
    return this.#decide(claim, notAfter, header.affectedRows > 0);
  }

  /** Answers a claim by a read alone, if there is a value. All claims that wait for that value ask at the same time: their writes would conflict. */
  async #answerTo(claim: Claim, accepts: ValueCondition): Promise<Attempt | undefined> {
    const queue = await this.queues.open(this.queues.names.of(claim.key));
    const value = queue.answerTo(accepts);
    if (value && queue.find(claim.id)) await this.#leave(claim);
    return value && { granted: false, value };
  }

  /** Finds the place of a claim in its queue. The answer may soon be out of date, but no other claim comes ahead of this one later. */
  async #decide(claim: Claim, notAfter: string, isTouched: boolean): Promise<Attempt> {
    const { id, key } = claim;
    const act = (queue: RowQueue): Attempt => {
      const attempt = queue.attempt(claim, this.#address);
      if (!attempt.granted && claim.accepts && queue.find(id)) this.poller.waitsBehind(id, queue.first!);
      return attempt;
    };
    const step = this.queues.step(this.queues.names.of(key), act, notAfter, isTouched ? id : undefined);
    const attempt = await step.catch((error) => {
      // A LockError would say that nothing of the claim is there, but it may be in the queue by now.
      throw isLockError(error) ? new Error(error.message, { cause: error }) : error;
    });
    if (!attempt) return { granted: false, late: true };
    if (claim.queue && !attempt.granted && !attempt.value) this.#queued.add(id);
    return attempt;
  }

  /** @returns undefined if nothing was exchanged, for example because the hold has expired */
  async #exchange({ id }: Handle, next: Claim, notAfter: string): Promise<Attempt | undefined> {
    const header = await this.#table.write(sql.exchange, { ...this.#newcomer(next, notAfter), gone: mark(id) });
    if (header.affectedRows === 0) return undefined;
    this.#giveUp(id);
    const token = BigInt(header.insertId);
    if (token) return grantOf(token, next);
    this.#notifyOthers(next.key);
    return this.#decide(next, notAfter, true);
  }

  async #leave({ key, id }: Handle): Promise<boolean> {
    this.#giveUp(id);
    const values = { name: this.queues.names.of(key), gone: mark(id) };
    const { affectedRows, insertId } = await this.#table.write(sql.leave, values);
    if (affectedRows === 0) return false;
    if (Number(insertId) & OTHERS) this.#notifyOthers(key);
    return (Number(insertId) & ALIVE) > 0;
  }

  #giveUp(id: string): void {
    this.poller.forget(id);
    this.#queued.delete(id);
  }

  #notifyOthers(key: string): void {
    this.poller.hurry();
    this.gate?.notify(key);
  }

  get #address(): string {
    return this.gate?.address ?? NO_ADDRESS;
  }

  /** The values of the statements by which a claim joins. */
  #newcomer(claim: Claim, notAfter: string): NamedValues {
    const { key, minToken = 0n, tokenCount } = claim;
    const name = this.queues.names.of(key);
    return { ...partsOf(claim, this.#address), name, minToken: `${minToken}`, tokenCount: `${tokenCount}`, notAfter };
  }
}
