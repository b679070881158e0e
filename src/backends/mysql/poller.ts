import type { Cancel, Claim, Clock, Wake } from '../../core/index.ts';
import type { StoredClaim } from '../shared/stored-queue.ts';
import { BufferedClaims, WaitingClaims } from '../shared/waiting-claims.ts';
import { grantOf, type RowQueue } from './stored-queue.ts';

/** The pause between two looks grows with the number of claims ahead, up to this many times the least pause. */
const MAX_PAUSE_FACTOR = 8;
/** While a claim does not move up in its queue, the pause is at least this share of the time since its last move, or `maxMs` if that is less. */
const STILL = { share: 0.05, maxMs: 250 };
/** The random part of each pause. Without it, processes that began together would always ask together. */
const JITTER_PART = 0.25;

/** ms between two looks at the holds: a holder must learn of its eviction. There may be many holds, so not every look for a waiter reads them. */
const HOLD_PAUSE_MS = 1_000;

/** Reads again and again the queues in which claims of this process wait, or have held for a while. One query reads all these queues. */
export class Poller {
  readonly #waiting: BufferedClaims;
  readonly #holds = new WaitingClaims();
  /** The token at the head of the queue, by the id of a claim that a value may answer. When the token changes, a value may have been stored. */
  readonly #firsts = new Map<string, bigint>();
  /** How many claims were ahead of each claim at the last look, and since when the number is the same. */
  readonly #standing = new Map<string, { readonly ahead: number; readonly since: number }>();
  readonly #clock: Clock;
  readonly #pause: number;
  readonly #read: (keys: readonly string[]) => Promise<Map<string, RowQueue>>;
  #cancel: Cancel | undefined;
  /** The time of the next look, by the clock. */
  #next = Number.POSITIVE_INFINITY;
  /** The time from which a look reads the holds, too. */
  #holdsFrom = Number.NEGATIVE_INFINITY;
  #looking = false;
  /** Whether another look follows at once after the one under way. */
  #again = false;

  /** @param pause ms between two looks while a claim is the first that waits in its queue: the least pause */
  constructor(clock: Clock, pause: number, read: (keys: readonly string[]) => Promise<Map<string, RowQueue>>) {
    this.#clock = clock;
    this.#waiting = new BufferedClaims(clock);
    this.#pause = pause;
    this.#read = read;
  }

  /** If a claim may have missed a change since it was sent, looks at once. @param age ms since the claim was sent; undefined: never sent */
  watch(claim: Claim, wake: Wake, age?: number): AsyncDisposable {
    const watch = this.#waiting.watch(claim, wake, () => this.forget(claim.id));
    if (this.#waiting.mayHaveMissed(age)) this.hurry();
    else this.#scheduleBy(this.#pause);
    return watch;
  }

  /** Wakes a claim when its hold is no longer in the queue. */
  watchHold(claim: Claim, wake: Wake): AsyncDisposable {
    const watch = this.#holds.watch(claim, wake, () => this.#isIdle && this.#stop());
    this.#scheduleBy(HOLD_PAUSE_MS);
    return watch;
  }

  /** Notes the token at the head of a queue, for a claim that waits there and that a value may answer. */
  waitsBehind(id: string, token: bigint): void {
    this.#firsts.set(id, token);
  }

  /** Looks at once, since something has changed. */
  hurry(): void {
    this.#waiting.noteMissed();
    this.#holdsFrom = Number.NEGATIVE_INFINITY;
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
        const now = this.#clock.now();
        const withHolds = this.#waiting.size === 0 || now >= this.#holdsFrom;
        if (withHolds) this.#holdsFrom = now + HOLD_PAUSE_MS * (1 - JITTER_PART);
        const claims = [...this.#waiting.values(), ...(withHolds ? this.#holds.values() : [])];
        const keys = new Set(claims.map(({ claim }) => claim.key));
        pause = this.#notify(await this.#read([...keys]), keys);
      } while (this.#again && !this.#isIdle);
    } catch {
      // Each waiter also attempts by itself, and its attempt reports what is wrong. The looks go on.
    }
    this.#looking = false;
    if (!this.#isIdle) this.#schedule(pause);
  }

  /** Wakes a claim if it is admitted, if an expiry or a value may end its wait, or if its hold is gone. @returns ms until the next look */
  #notify(queues: ReadonlyMap<string, RowQueue>, read: ReadonlySet<string>): number {
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
    for (const { claim, wake } of [...this.#holds.values()])
      if (read.has(claim.key) && !queues.get(claim.key)?.find(claim.id)?.held) wake();
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
