import type { PiggybackedAttempt } from '../claims/asked-claim.ts';
import type { Granted } from '../claims/deadline.ts';
import { closedUntil } from '../claims/delay.ts';
import type { QueuedClaim } from '../claims/queued-claim.ts';
import type { Release } from '../contract/backend.ts';
import { CALL_TIMEOUT, type Engine } from '../engine/engine.ts';
import { withdraw, withdrawAt } from '../engine/withdrawal.ts';
import { Hold } from '../holds/hold.ts';
import type { Watchdog } from '../holds/watchdog.ts';
import type { AcquireRequest } from './acquire-request.ts';
import { mayPass } from './hand-over.ts';
import type { LocalLine } from './local-line.ts';
import type { LockRuntime } from './runtime.ts';

/** The holds of a key in this process: how they begin, pass from hand to hand, go back to the engine, or end by themselves. */
export class KeyHolds {
  readonly #watchdog: Watchdog;
  readonly #line: LocalLine;
  readonly engine: Engine;

  constructor(runtime: LockRuntime, line: LocalLine) {
    this.#watchdog = runtime.watchdog;
    this.engine = runtime.engine;
    this.#line = line;
  }

  /** Stands in the engine's line; what comes of it goes to the request that the claim belongs to by then. */
  serve(queued: QueuedClaim, piggybacked?: PiggybackedAttempt): void {
    this.engine.activity.begin();
    queued.stand(this.#line.waits, piggybacked).then(
      (granted) => this.#served(queued, granted),
      (error) => this.#failed(queued, error),
    );
  }

  #served(queued: QueuedClaim, granted: Granted | undefined): void {
    const { request } = queued;
    if (granted) {
      try {
        if (request) this.#hold(new Hold(this, queued.claim, granted, request.resolved), request);
        else queued.withdraw();
      } catch (error) {
        queued.withdraw(); // what came of it was no grant that could be held
        this.#failed(queued, error);
        return;
      }
    } else if (request) {
      request.grant(undefined);
      this.#line.leave(request);
    }
    this.#over(queued);
  }

  #failed(queued: QueuedClaim, error: unknown): void {
    const { request } = queued;
    if (request) {
      request.refuse(error);
      this.#line.tellAlike(queued.outage);
      this.#line.leave(request, queued.outage);
    }
    this.#over(queued);
  }

  #over(queued: QueuedClaim): void {
    queued.request = undefined;
    this.engine.activity.end();
  }

  /** Renewal comes before the grant is shown. */
  #hold(hold: Hold, request: AcquireRequest): void {
    hold.request = request;
    request.number = hold.claim.number;
    this.#watchdog.add(hold);
    request.grant(hold); // before that is told: a listener may end the wait
    const how = hold.tenure.passes > 0 ? 'handedOver' : 'acquired';
    request.events.ends(how, hold.exclusive ? hold.token : undefined);
    hold.listen();
  }

  /** Whether this call freed the hold. Never throws: a release whose outcome is unknown goes on in the background. */
  async release(hold: Hold): Promise<boolean> {
    const { request, timing } = hold;
    if (!request || hold.life.over) return false;
    const { engine } = this;
    engine.clock.lookAgain?.();
    if (!hold.held) {
      hold.end('its deadline passed without a renewal');
      return false;
    }
    hold.released();
    this.#watchdog.remove(hold);
    if (this.#passOn(hold, request)) return true;
    const now = engine.clock.now();
    const rest = timing.rest(now);
    // Before it is sent: its answer may come when that time is over, and tells nothing of what arrived after it.
    if (timing.lateUntil > now) withdrawAt(engine, hold.asked, Math.max(timing.lateUntil, now + rest));
    engine.activity.begin();
    try {
      if (rest > 0) return await this.#linger(hold, request, rest);
      return (await this.#giveBack(hold, request)).freed;
    } catch {
      withdraw(engine, hold.asked);
      return false;
    } finally {
      this.#line.leave(request);
      engine.activity.end();
    }
  }

  /** The hold ended by itself: gone on the engine, or past its deadline. Told once. */
  ended(hold: Hold): void {
    this.#watchdog.remove(hold);
    this.#takeBack(hold, closedUntil(hold));
    if (hold.request) this.#line.leave(hold.request);
  }

  #passOn(hold: Hold, request: AcquireRequest): boolean {
    const next = this.#line.replace(request, (head) => mayPass(hold, head, this.engine.clock.now()));
    if (next) this.#hold(hold.passTo(next.resolved), next);
    return next !== undefined;
  }

  /** Back to the engine, in one step with the claim of whoever comes next here. */
  #giveBack(hold: Hold, request: AcquireRequest): Promise<Release> {
    const { engine } = this;
    const next = this.#line.successorOf(request);
    if (!next) return engine.release(hold.claim);
    const sent = engine.clock.now();
    const released = engine.release(hold.claim, next.claim);
    this.serve(next, { sent, attempt: released.then((answer) => answer.next) });
    return released;
  }

  /** Keeps the key taken for the rest of `minHold`, if possible without this process. */
  async #linger(hold: Hold, request: AcquireRequest, rest: number): Promise<boolean> {
    const { engine } = this;
    const { traits } = engine.backend;
    if (traits.lapses) {
      const ttl = Math.max(Math.ceil(rest), traits.ttl.min);
      const [answer] = await engine.renew([{ ...hold.claim, ttl }], CALL_TIMEOUT).catch(() => []);
      // Else it would stay for as long as its lease, should nothing come of that either: too long, never too short.
      if (answer === undefined || answer === 'unknown') this.#takeBack(hold);
      return typeof answer === 'object';
    }
    await engine.activity.pause(rest);
    return (await this.#giveBack(hold, request)).freed;
  }

  /** In the background, when `minHold` and, after a lapse, `delay` are over. */
  #takeBack(hold: Hold, closedUntil = 0): void {
    const { engine } = this;
    const { timing } = hold;
    const now = engine.clock.now();
    const kept = Math.max(now + timing.rest(now), closedUntil);
    if (kept > now) withdrawAt(engine, hold.asked, Math.max(kept, timing.lateUntil));
    else withdraw(engine, hold.asked, timing.lateUntil);
  }
}
