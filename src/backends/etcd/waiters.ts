import { ALL_SEATS, isExclusive } from '../../core/admission.ts';
import type { Attempt, Claim, Grant } from '../../core/backend.ts';
import type { Clock } from '../../core/clock.ts';
import type { Client } from './client.ts';
import { type Contender, indexOf, isUnderLeaseOf, secondsOf, stateIn } from './contender.ts';
import { endOf, type Line } from './line.ts';
import type { Moves } from './moves.ts';
import { beckon, lineNow } from './waiting.ts';
import type { Watches } from './wake-ups.ts';

/** Who hears for a claim. It outlasts the contender: a claim that lost its place takes another. */
interface Waiter {
  readonly wake: (grant?: Grant) => void;
  /** There while something is watched for it; resolves with what ends that. */
  watching?: Promise<() => void>;
}

/** Says what a line means for a claim in it, and watches what stands in the way of those who wait. */
export class Waiters {
  readonly #waiters = new Map<string, Waiter>();
  readonly #client: Client;
  readonly #moves: Moves;
  readonly #watches: Watches;
  readonly #clock: Clock;

  constructor(client: Client, moves: Moves, watches: Watches, clock: Clock) {
    this.#client = client;
    this.#moves = moves;
    this.#watches = watches;
    this.#clock = clock;
  }

  async watch(claim: Claim, me: Contender | undefined, wake: (grant?: Grant) => void): Promise<AsyncDisposable> {
    const waiter: Waiter = { wake };
    this.stop(claim.id);
    this.#waiters.set(claim.id, waiter);
    const over = async (): Promise<void> => {
      stopWatching(waiter);
      if (this.#waiters.get(claim.id) === waiter) this.#waiters.delete(claim.id);
    };
    try {
      if (me) this.arm(claim, me);
      await waiter.watching;
    } catch (error) {
      await over();
      throw error;
    }
    return { [Symbol.asyncDispose]: over };
  }

  /** Whether somebody is told of what changes for a claim. */
  hears(id: string): boolean {
    return this.#waiters.get(id)?.watching !== undefined;
  }

  stop(id: string): void {
    const waiter = this.#waiters.get(id);
    if (waiter) stopWatching(waiter);
  }

  judge(claim: Claim, me: Contender, line: Line): Attempt {
    const index = indexOf(line, me);
    const before = me.state;
    me.ticket = line.places[index]!.ticket;
    me.state = stateIn(line, index, before, this.#clock.now());
    if (me.state.is === 'waiting') {
      this.arm(claim, me);
      return { granted: false, ahead: index };
    }
    if (me.state.is === 'over') return { granted: false };
    const behind = line.places[index + 1];
    if (before.is === 'waiting' && claim.of < ALL_SEATS && behind && !isExclusive(behind)) beckon(this.#client, me);
    return { granted: true, ticket: me.ticket, validFor: me.lease.goodUntil - me.sent };
  }

  /** Watches what stands in the way, if somebody waits for it and nothing is watched yet. */
  arm(claim: Claim, me: Contender): void {
    const waiter = this.#waiters.get(claim.id);
    if (!waiter || waiter.watching || me.state.is !== 'waiting') return;
    const { name, puts, from } = me.state.obstacle;
    const range = name ? { key: name } : { key: me.line, rangeEnd: endOf(me.line) };
    const watching = this.#watches.watch({ ...range, puts, from }, () => {
      if (waiter.watching !== watching) return;
      waiter.watching = undefined;
      void this.#look(claim, me, waiter);
    });
    waiter.watching = watching;
    watching.catch(() => {
      if (waiter.watching === watching) waiter.watching = undefined;
    });
  }

  /** Something changed, or went unseen: looks at the whole line, one's own key included, before saying anything. */
  async #look(claim: Claim, me: Contender, waiter: Waiter): Promise<void> {
    try {
      // It is probably its turn: so it gets the lease of a hold in the same step, and gives it back if it is not.
      const line = isUnderLeaseOf(me, secondsOf(claim.ttl))
        ? await lineNow(this.#client, me.line)
        : await this.#moves.to(me, secondsOf(claim.ttl), undefined, claim.lingers);
      if (me.state.is === 'over' || this.#waiters.get(claim.id) !== waiter) return;
      const attempt = line && indexOf(line, me) >= 0 ? this.judge(claim, me, line) : undefined;
      if (attempt?.granted) waiter.wake(attempt);
      else if (!attempt) waiter.wake();
    } catch {
      waiter.wake(); // the attempt that follows arms again, or hears what is wrong
    }
  }
}

function stopWatching(waiter: Waiter): void {
  const { watching } = waiter;
  waiter.watching = undefined;
  watching?.then((stop) => stop()).catch(() => undefined);
}
