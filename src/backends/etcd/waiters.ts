import type { Attempt, Claim, Wake } from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';
import { WaitingClaims } from '../shared/waiting-claims.ts';
import { type Contender, indexOf, isUnderLeaseOf, secondsOf, stateIn, wakeNextPermit } from './contender.ts';
import { type Line, lineNow } from './line.ts';
import type { Moves } from './moves.ts';
import type { Watches } from './wake-ups.ts';
import type { Client } from './wire/client.ts';
import { endOf } from './wire/ops.ts';

/** Says what a line means for a claim in it, and watches the obstacles of the claims that wait. */
export class Waiters {
  /** They outlive their contenders: a claim that lost its place takes another. */
  readonly #claims = new WaitingClaims();
  /** The watch of the obstacle of each claim, by the id of the claim. Resolves with the function that ends the watch. */
  readonly #watching = new Map<string, Promise<() => void>>();
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

  async watch(claim: Claim, me: Contender | undefined, wake: Wake): Promise<AsyncDisposable> {
    this.stop(claim.id);
    const waiting = this.#claims.watch(claim, wake, () => this.stop(claim.id));
    try {
      if (me) this.arm(claim, me);
      await this.#watching.get(claim.id);
      return waiting;
    } catch (error) {
      await waiting[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Whether the obstacle of a claim is watched. */
  hears(id: string): boolean {
    return this.#watching.has(id);
  }

  stop(id: string): void {
    this.#watching
      .get(id)
      ?.then((end) => end())
      .catch(() => undefined);
    this.#watching.delete(id);
  }

  judge(claim: Claim, me: Contender, line: Line): Attempt {
    const index = indexOf(line, me);
    const before = me.state;
    me.token = line.places[index]!.token;
    me.state = stateIn(line, index, before, this.#clock.now());
    if (me.state.is === 'waiting') {
      this.arm(claim, me);
      return { granted: false, ahead: index };
    }
    if (me.state.is !== 'admitted') return { granted: false };
    if (me.state.relay && before.is !== 'admitted') wakeNextPermit(this.#client, me);
    return { granted: true, token: me.token, validFor: me.lease.goodUntil - me.sent };
  }

  /** Watches the obstacle of a claim, if somebody listens and nothing is watched yet. */
  arm(claim: Claim, me: Contender): void {
    const { id } = claim;
    const wake = this.#claims.get(id)?.wake;
    if (!wake || this.hears(id) || me.state.is !== 'waiting') return;
    const { behind, relayed, from } = me.state.obstacle;
    const range = behind ? { key: behind.name } : { key: me.line, rangeEnd: endOf(me.line) };
    const isOver = (): boolean => this.#watching.get(id) === watching && this.#watching.delete(id);
    const watching = this.#watches.watch({ ...range, puts: relayed, from }, () => {
      if (isOver()) void this.#look(claim, me, wake);
    });
    this.#watching.set(id, watching);
    watching.catch(isOver);
  }

  /** Something changed, or may have. Lists the whole line, with the claim's own key, before it tells anybody. */
  async #look(claim: Claim, me: Contender, wake: Wake): Promise<void> {
    try {
      // It is probably this claim's turn. So its key moves to the lease of a hold in the same step, and back if it is not.
      const seconds = secondsOf(claim.ttl);
      const isUnder = (): boolean => isUnderLeaseOf(me, seconds, this.#client.term);
      let line = isUnder() ? await lineNow(this.#client, me.line) : undefined;
      if (!isUnder()) line = await this.#moves.to(me, seconds, undefined, claim.lingers);
      if (me.state.is === 'over' || this.#claims.get(claim.id)?.wake !== wake) return;
      const attempt = line && indexOf(line, me) >= 0 ? this.judge(claim, me, line) : undefined;
      if (attempt?.granted && isUnder()) wake(attempt);
      else if (!attempt || attempt.granted) wake();
    } catch {
      wake(); // the next attempt watches again, or throws what is wrong
    }
  }
}
