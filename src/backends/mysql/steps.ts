import type { Claim, Handle, Release } from '../../core/index.ts';
import { admits } from '../shared/stored-queue.ts';
import type { Queues } from './queues.ts';
import * as sql from './sql.generated.ts';
import type { NamedValues } from './statements.ts';
import {
  grantOf,
  type LiveQueue,
  liveQueue,
  MICRO,
  mark,
  partsOf,
  type QueueAttempt,
  refusal,
} from './stored-queue.ts';
import type { Table } from './table.ts';

/** The bits of what `leave` answers. */
const [ALIVE, OTHERS] = [1, 2];

/** How often a queue is looked at again because others changed it. After that the outcome of the attempt is unknown. */
const MAX_RETRIES = 20;

/** How waiters are notified of a change. */
interface WakeUps {
  /** The address of this process; `-` while it has none. */
  address(): string;
  /** A claim has left a queue in which others stand. */
  notifyOthers(key: string): void;
  /** A claim that a value may answer waits, and a claim with this token is the first in the queue. */
  waitsBehind(id: string, token: bigint): void;
  /** The claim waits no more. */
  forget(id: string): void;
}

/** The steps of claims: they join queues, find where they stand, and leave. */
export class QueueSteps {
  readonly #table: Table;
  readonly #queues: Queues;
  readonly #wakeUps: WakeUps;
  readonly #attempts: Attempts;

  constructor(queues: Queues, wakeUps: WakeUps) {
    this.#table = queues.table;
    this.#queues = queues;
    this.#wakeUps = wakeUps;
    this.#attempts = new Attempts(wakeUps.forget);
  }

  attempt(claim: Claim): Promise<QueueAttempt> {
    return this.#visit(claim, async (state) => {
      await this.#table.ready();
      return this.#ask(claim, state, this.#table.limit(claim.within));
    });
  }

  async release(handle: Handle, next?: Claim): Promise<Release & { readonly next?: QueueAttempt }> {
    const ready = this.#table.ready();
    if (!next) return { freed: await ready.then(() => this.#leave(handle)) };
    let freed = true;
    // One state for all steps: the next claim may be given up during any of them.
    const attempt = await this.#visit(next, async (state) => {
      await ready;
      const notAfter = this.#table.limit(next.within);
      const exchanged = await this.#exchange(handle, next, state, notAfter);
      if (exchanged) return exchanged;
      freed = await this.#leave(handle);
      return this.#ask(next, state, notAfter);
    });
    return { freed, next: attempt };
  }

  /** Gives up an exclusive hold by a statement of the caller. @param leave says whether it did */
  async leaveBy({ key, id }: Handle, leave: () => Promise<boolean>): Promise<boolean> {
    this.#attempts.leave(id);
    const left = await leave();
    if (left) this.#wakeUps.notifyOthers(key);
    return left;
  }

  async evict(key: string, token: bigint): Promise<boolean> {
    await this.#table.ready();
    const stored = (await this.#queues.read([key])).get(key);
    const found = stored && liveQueue(stored).claims.find((claim) => claim.token === token);
    return found !== undefined && this.#leave({ key, id: found.id });
  }

  async #visit(claim: Claim, ask: (state: Readonly<AttemptState>) => Promise<QueueAttempt>): Promise<QueueAttempt> {
    const state = this.#attempts.begin(claim.id);
    let stands = false;
    try {
      const answer = await ask(state);
      stands = !answer.granted && claim.queue && !answer.late;
      return answer;
    } finally {
      if (this.#attempts.end(claim.id, stands)) await this.#leave(claim);
    }
  }

  async #ask(claim: Claim, state: Readonly<AttemptState>, notAfter: string): Promise<QueueAttempt> {
    if (state.stands) return this.#find(claim, state, notAfter);
    const token = await this.#join(claim, '', notAfter);
    return token ? grantOf(token, claim) : this.#find(claim, state, notAfter, token === 0n);
  }

  /** Finds where a claim stands in its queue. That may be out of date, but nobody gets ahead of it later. */
  async #find(claim: Claim, state: Readonly<AttemptState>, notAfter: string, touched = false): Promise<QueueAttempt> {
    for (let attempts = 0; attempts < MAX_RETRIES; attempts++) {
      const stored = (await this.#queues.read([claim.key])).get(claim.key);
      if (!stored) await this.#table.write(sql.create, { name: this.#queues.lockNameOf(claim.key) });
      const queue = liveQueue(stored ?? { text: '', now: 0 });
      if (queue.now * MICRO > Number(notAfter)) return { granted: false, late: true };
      if (queue.expired && !(await this.#swap(claim.key, stored!.text, queue.text))) continue;
      const position = queue.claims.findIndex(({ id }) => id === claim.id);
      const mine = queue.claims[position];
      if (mine) {
        touched ||= (await this.#queues.touch([claim], notAfter, '1')) === 1;
        if (touched) return mine.held ? grantOf(mine.token, claim) : this.#refuse(claim, queue, position);
        continue;
      }
      if (state.left) throw new Error('it was given up meanwhile');
      const free = admits(queue.claims, claim);
      const token = free || claim.queue ? await this.#join(claim, queue.text, notAfter) : 0n;
      if (free ? token : token !== undefined)
        return free ? grantOf(token!, claim) : this.#refuse(claim, queue, queue.claims.length);
      touched = token === 0n;
    }
    throw new Error(`the queue was changed, or too long to join, each of ${MAX_RETRIES} times it was looked at`);
  }

  #refuse(claim: Claim, queue: LiveQueue, ahead: number): QueueAttempt {
    if (claim.accepts && claim.queue) this.#wakeUps.waitsBehind(claim.id, queue.claims[0]!.token);
    return refusal(queue, ahead);
  }

  /** @returns the token, if the queue was as expected; 0, if it was another one and the claim joined it; undefined, if nothing was done */
  async #join(claim: Claim, expected: string, notAfter: string): Promise<bigint | undefined> {
    const waits = claim.queue ? '1' : '0';
    const header = await this.#table.write(sql.join, { ...this.#newcomer(claim), expected, waits, notAfter });
    return header.affectedRows > 0 ? BigInt(header.insertId) : undefined;
  }

  async #exchange(
    { id }: Handle,
    next: Claim,
    state: Readonly<AttemptState>,
    notAfter: string,
  ): Promise<QueueAttempt | undefined> {
    const header = await this.#table.write(sql.exchange, { ...this.#newcomer(next), gone: mark(id), notAfter });
    if (header.affectedRows === 0) return undefined;
    this.#attempts.leave(id);
    const token = BigInt(header.insertId);
    if (token) return grantOf(token, next);
    this.#wakeUps.notifyOthers(next.key);
    return this.#find(next, state, notAfter, true);
  }

  async #leave({ key, id }: Handle): Promise<boolean> {
    this.#attempts.leave(id);
    const { affectedRows, insertId } = await this.#table.write(sql.leave, {
      name: this.#queues.lockNameOf(key),
      mark: mark(id),
    });
    if (affectedRows === 0) return false;
    if (Number(insertId) & OTHERS) this.#wakeUps.notifyOthers(key);
    return (Number(insertId) & ALIVE) > 0;
  }

  async #swap(key: string, old: string, text: string): Promise<boolean> {
    const header = await this.#table.write(sql.swap, { name: this.#queues.lockNameOf(key), old, new: text });
    return header.affectedRows > 0;
  }

  #newcomer(claim: Claim): NamedValues {
    const { key, minToken = 0n, tokenCount } = claim;
    const parts = partsOf(claim, this.#wakeUps.address());
    return { ...parts, name: this.#queues.lockNameOf(key), minToken: `${minToken}`, tokenCount: `${tokenCount}` };
  }
}

/** What this process knows of one claim, beside what the table says. */
interface AttemptState {
  /** Attempts under way. */
  asking: number;
  /** It was refused and stands in the queue, so the next attempt need not join. */
  stands: boolean;
  /** It was given up during an attempt. */
  left: boolean;
}

/**
 * An attempt takes several statements, and its claim may be given up between two of them. Then the attempt must not join again, and
 * removes what it may have left.
 */
class Attempts {
  readonly #attempts = new Map<string, AttemptState>();
  readonly #onLeave: (id: string) => void;

  /** @param onLeave called with the id of each claim that is given up */
  constructor(onLeave: (id: string) => void) {
    this.#onLeave = onLeave;
  }

  begin(id: string): Readonly<AttemptState> {
    const state = this.#attempts.get(id) ?? { asking: 0, stands: false, left: false };
    state.asking++;
    this.#attempts.set(id, state);
    return state;
  }

  /** @returns whether it was given up during the attempt */
  end(id: string, stands: boolean): boolean {
    const state = this.#attempts.get(id)!;
    state.asking--;
    state.stands = stands;
    if (state.asking === 0 && (!stands || state.left)) this.#attempts.delete(id);
    return state.left;
  }

  leave(id: string): void {
    this.#onLeave(id);
    const state = this.#attempts.get(id);
    if (!state) return;
    state.left = true;
    if (state.asking === 0) this.#attempts.delete(id);
  }
}
