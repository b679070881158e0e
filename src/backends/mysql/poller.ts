import type { Cancel, Claim, Clock, Wake } from '../../core/index.ts';
import type { StoredClaim } from '../shared/stored-queue.ts';
import { BufferedClaims, WaitingClaims } from '../shared/waiting-claims.ts';
import { grantOf, type RowQueue } from './stored-queue.ts';

/** The farther back in a queue, the longer the pause: up to this many times as long. */
const MAX_PAUSE_FACTOR = 8;
/** While a claim does not move up, the pause becomes this share of the time for which it has stood there, up to so many ms. */
const STILL = { share: 0.05, maxMs: 250 };
/** The random part of each pause, so that processes that began together do not stay together. */
const JITTER_PART = 0.25;

/** ms between two looks, at the least, while nobody waits: those who have held for a while must learn when somebody has evicted them. */
const HOLD_PAUSE_MS = 1_000;

/** Looks at the queues of all claims that wait in this process, or have held for a while, by one query, while there are any. */
export class Poller {
  readonly #waiting: BufferedClaims;
  readonly #holds = new WaitingClaims();
  /** The token of the first in the queue of each claim that a value may answer. When another one is first, a value may be there. */
  readonly #firsts = new Map<string, bigint>();
  /** How far each claim was from its turn at the last look, and since when. */
  readonly #standing = new Map<string, { readonly ahead: number; readonly since: number }>();
  readonly #clock: Clock;
  readonly #pause: number;
  readonly #look: (keys: readonly string[]) => Promise<Map<string, RowQueue>>;
  #cancel: Cancel | undefined;
  /** The time of the next look, by the clock. */
  #next = Number.POSITIVE_INFINITY;
  #looking = false;
  /** When the look under way is over, another one follows at once. */
  #again = false;

  /** @param pause ms between two looks for the first in a queue */
  constructor(clock: Clock, pause: number, look: (keys: readonly string[]) => Promise<Map<string, RowQueue>>) {
    this.#clock = clock;
    this.#waiting = new BufferedClaims(clock);
    this.#pause = pause;
    this.#look = look;
  }

  /** @param age ms since the claim was sent, if it was: what has changed since then is looked at at once */
  watch(claim: Claim, wake: Wake, age?: number): AsyncDisposable {
    const watch = this.#waiting.watch(claim, wake, () => this.forget(claim.id));
    if (this.#waiting.mayHaveMissed(age)) this.hurry();
    else this.#scheduleBy(this.#pause);
    return watch;
  }

  /** Wakes a hold that is not there any more. */
  watchHold(claim: Claim, wake: Wake): AsyncDisposable {
    const watch = this.#holds.watch(claim, wake, () => this.#isIdle && this.#stop());
    this.#scheduleBy(HOLD_PAUSE_MS);
    return watch;
  }

  /** A claim that a value may answer waits, and a claim with this token is the first in its queue. */
  waitsBehind(id: string, token: bigint): void {
    this.#firsts.set(id, token);
  }

  /** Something has changed: looks at once. */
  hurry(): void {
    this.#waiting.noteMissed();
    if (this.#looking) this.#again = true;
    else if (!this.#isIdle) void this.#round();
  }

  get #isIdle(): boolean {
    return this.#waiting.size + this.#holds.size === 0;
  }

  close(): void {
    this.#waiting.clear();
    this.#holds.clear();
    this.#firsts.clear();
    this.#standing.clear();
    this.#stop();
  }

  forget(id: string): void {
    this.#waiting.delete(id);
    this.#firsts.delete(id);
    this.#standing.delete(id);
    if (this.#isIdle) this.#stop();
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#next = Number.POSITIVE_INFINITY;
  }

  #scheduleBy(pause: number): void {
    if (this.#looking || this.#next <= this.#clock.now() + pause) return;
    this.#stop();
    this.#schedule(pause);
  }

  #schedule(pause: number): void {
    this.#next = this.#clock.now() + pause;
    this.#cancel = this.#clock.after(pause * (1 - JITTER_PART * this.#clock.random()), () => void this.#round(), true);
  }

  async #round(): Promise<void> {
    this.#stop();
    this.#looking = true;
    let pause = this.#pause * MAX_PAUSE_FACTOR;
    try {
      do {
        this.#again = false;
        const claims = [...this.#waiting.values(), ...this.#holds.values()];
        const keys = new Set(claims.map(({ claim }) => claim.key));
        pause = this.#notify(await this.#look([...keys]));
      } while (this.#again && !this.#isIdle);
    } catch {
      // Each waiter also asks by itself, and says what is wrong. This goes on looking.
    }
    this.#looking = false;
    if (!this.#isIdle) this.#schedule(pause);
  }

  /** Wakes the claims that are admitted, or have expired claims beside them to clear. @returns the pause before the next look, ms */
  #notify(queues: ReadonlyMap<string, RowQueue>): number {
    let pause = this.#waiting.size > 0 ? this.#pause * MAX_PAUSE_FACTOR : HOLD_PAUSE_MS;
    for (const { claim, wake } of [...this.#waiting.values()]) {
      const queue = queues.get(claim.key);
      const mine = queue?.find(claim.id);
      if (mine?.held && !queue?.expired) {
        this.forget(claim.id);
        wake(grantOf(mine.token, claim));
        continue;
      }
      if (queue?.expired || (mine && this.#mayBeAnswered(claim, queue!.first!))) wake();
      // A claim that is not in the queue has not joined yet, or has expired: its next attempt finds out.
      if (mine) pause = Math.min(pause, this.#pauseOf(claim, [...queue!.claims].filter(isWaiting).indexOf(mine) + 1));
    }
    for (const { claim, wake } of [...this.#holds.values()]) if (!queues.get(claim.key)?.find(claim.id)?.held) wake();
    return pause;
  }

  #pauseOf({ id, accepts }: Claim, ahead: number): number {
    const now = this.#clock.now();
    let stand = this.#standing.get(id);
    if (stand?.ahead !== ahead) {
      stand = { ahead, since: now };
      this.#standing.set(id, stand);
    }
    const still = Math.min((now - stand.since) * STILL.share, STILL.maxMs);
    return Math.max(this.#pause * Math.min(accepts ? 1 : Math.max(ahead, 1), MAX_PAUSE_FACTOR), still);
  }

  #mayBeAnswered({ id, accepts }: Claim, first: bigint): boolean {
    if (!accepts) return false;
    const before = this.#firsts.get(id) ?? first;
    this.#firsts.set(id, first);
    return before !== first;
  }
}

const isWaiting = ({ held }: StoredClaim): boolean => !held;
