import {
  type Attempt,
  type Claim,
  type Grant,
  type Handle,
  isExclusive,
  type Release,
  type Renewal,
  type Wake,
} from '../../core/index.ts';

/** A session of the server, which has locks or waits for a lock. */
export interface LockSession {
  /** Aborted once the session has ended, and so its locks are free. */
  readonly ended: AbortSignal;
  /** Takes the lock if it is free. @returns `late`: the attempt came after the claim's `within`; undefined: others have the lock */
  take(lock: string, claim: Claim): Promise<Grant | 'late' | undefined>;
  /** Waits for the lock. Meanwhile the session sends nothing else. @returns undefined if the wait was cancelled, or it failed and the session has ended */
  wait(lock: string, claim: Claim): Promise<Grant | undefined>;
  cancel(): Promise<void>;
  /** Asks the server whether the session still has its lock. An engine leaves this out if `ended` soon shows the loss. */
  confirm?(): Promise<boolean>;
  /** @returns whether the session had the lock */
  unlock(lock: string, shared: boolean): Promise<boolean>;
  cut(): void;
}

export interface SessionSource<S extends LockSession> {
  /** Whether each session serves one claim alone, so the end of the session frees all that the claim may have. */
  readonly single: boolean;
  toAsk(): Promise<S>;
  /** @returns undefined if all sessions are in use: then the claim asks again and again */
  toWait(): Promise<S | undefined>;
  /** Takes a session back from a claim. @param waited true if the session was for a wait that did not begin */
  done(session: S, waited?: boolean): void;
  close(): Promise<void>;
}

/** A lock that this process holds or asks for. */
interface SessionHold<S> {
  readonly shared: boolean;
  readonly asked: Promise<Attempt>;
  /** The session on which the lock is held or asked for, once it is known. */
  on?: S;
  isHeld?: boolean;
  /** The release under way. A second unlock would free the lock of another reader on the session. */
  leaving?: Promise<boolean>;
}

/** The locks that this process holds or asks for, by lock and id. The server would grant one lock twice to one session, so `attempt` looks here first. */
class SessionHolds<S extends LockSession> {
  readonly #byLock = new Map<string, Map<string, SessionHold<S>>>();
  readonly #done: (session: S) => void;

  constructor(done: (session: S) => void) {
    this.#done = done;
  }

  get(lock: string, id: string): SessionHold<S> | undefined {
    return this.#living(lock)?.get(id);
  }

  /** Whether a claim may ask for the lock: no other claim here has it, or all are readers, this one too. */
  admits(lock: string, mine: Pick<SessionHold<S>, 'shared'>): boolean {
    return [...(this.#living(lock)?.values() ?? [])].every((hold) => hold === mine || (hold.shared && mine.shared));
  }

  /** Whether another claim has the same lock, or asks for it, on the same session. */
  beside(lock: string, mine: SessionHold<S>): boolean {
    return [...(this.#living(lock)?.values() ?? [])].some((hold) => hold !== mine && hold.on && hold.on === mine.on);
  }

  keep(lock: string, id: string, hold: SessionHold<S>): void {
    this.#byLock.set(lock, (this.#byLock.get(lock) ?? new Map()).set(id, hold));
  }

  forget(lock: string, id: string, hold: SessionHold<S>): void {
    const holds = this.#byLock.get(lock);
    if (holds?.get(id) !== hold) return; // its session had ended, and the claim asks on another one
    if (hold.on) this.#done(hold.on);
    holds.delete(id);
    if (holds.size === 0) this.#byLock.delete(lock);
  }

  /** Forgets the holds whose session has ended, and gives the others. */
  #living(lock: string): ReadonlyMap<string, SessionHold<S>> | undefined {
    const holds = this.#byLock.get(lock);
    for (const [id, hold] of holds ?? []) if (hold.on?.ended.aborted) this.forget(lock, id, hold);
    return holds;
  }
}

/** Locks that a session of the server keeps until it ends. Waiters wait on the server. */
export class SessionLocks<S extends LockSession> {
  readonly #sessions: SessionSource<S>;
  readonly #lockOf: (key: string) => string;
  readonly #translate: (error: unknown, key: string) => unknown;
  readonly #holds: SessionHolds<S>;
  readonly #watchers = new Map<string, Wake>();
  /** The waits, by claim id. A wait stays here until it has ended on the server, too. */
  readonly #waits = new Map<string, { readonly on: S; readonly over: Promise<void> }>();

  /** @param translate makes a `LockError` of a definite refusal */
  constructor(
    sessions: SessionSource<S>,
    lockOf: (key: string) => string,
    translate: (error: unknown, key: string) => unknown,
  ) {
    this.#sessions = sessions;
    this.#lockOf = lockOf;
    this.#translate = translate;
    this.#holds = new SessionHolds((session) => sessions.done(session));
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const { id, key } = claim;
    const lock = this.#lockOf(key);
    const mine = this.#holds.get(lock, id);
    if (mine) return mine.asked;
    const shared = !isExclusive(claim);
    if (this.#waits.has(id) || !this.#holds.admits(lock, { shared })) return { granted: false };
    const hold: SessionHold<S> = { shared, asked: Promise.resolve().then(() => this.#ask(lock, hold, claim)) };
    this.#holds.keep(lock, id, hold);
    const answer = await hold.asked;
    // If the wait of the claim was interrupted, it begins again.
    if (!answer.granted && !answer.late) await this.#begin(lock, claim).catch(() => {});
    return answer;
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return Promise.all(
      claims.map(async ({ key, id }) => {
        const hold = this.#holds.get(this.#lockOf(key), id);
        if (hold && !hold.isHeld) return 'unknown'; // its attempt is under way: a quorum asks for such a vote, too
        const held = hold && (await (hold.on?.confirm?.().catch(() => false) ?? true));
        return held ? { validFor: Number.POSITIVE_INFINITY } : 'gone';
      }),
    );
  }

  async release({ key, id }: Handle): Promise<Release> {
    const lock = this.#lockOf(key);
    const waited = await this.#dismiss(id);
    const hold = this.#holds.get(lock, id);
    if (hold) hold.leaving ??= this.#giveBack(lock, id, hold);
    return { freed: (await hold?.leaving) ?? waited };
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const { id, key } = claim;
    this.#watchers.set(id, wake);
    await this.#begin(this.#lockOf(key), claim);
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#watchers.get(id) === wake) await this.#dismiss(id);
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#watchers.keys(), ...this.#waits.keys()].map((id) => this.#dismiss(id)));
    await this.#sessions.close();
  }

  async #ask(lock: string, hold: SessionHold<S>, claim: Claim): Promise<Attempt> {
    const { id, key } = claim;
    try {
      const on = await this.#sessions.toAsk();
      if (this.#holds.get(lock, id) !== hold) {
        this.#sessions.done(on);
        throw new Error('the claim was given up meanwhile');
      }
      hold.on = on;
      // Until this session could be had, a wait on it may have got the lock: the server would grant the lock to the session again.
      const answer = this.#holds.admits(lock, hold) ? await on.take(lock, claim) : undefined;
      hold.isHeld = typeof answer === 'object';
      if (typeof answer === 'object') return answer;
      this.#holds.forget(lock, id, hold);
      return answer ? { granted: false, late: true } : { granted: false };
    } catch (error) {
      // Nobody knows whether this claim has the lock. If another reader has it on the same session, an unlock could free that reader's lock.
      if (this.#holds.beside(lock, hold)) hold.on!.cut();
      else await this.#unlock(lock, hold).catch(() => {});
      this.#holds.forget(lock, id, hold);
      throw this.#translate(error, key);
    }
  }

  async #giveBack(lock: string, id: string, hold: SessionHold<S>): Promise<boolean> {
    try {
      if (this.#sessions.single && !hold.isHeld) hold.on?.cut();
      else if (hold.on && (await hold.asked.catch(() => undefined))?.granted) return await this.#unlock(lock, hold);
      return false;
    } finally {
      this.#holds.forget(lock, id, hold);
    }
  }

  /** Frees what a claim may have. If that fails, ends the session, which frees the lock, too. */
  async #unlock(lock: string, { on, shared }: SessionHold<S>): Promise<boolean> {
    if (!on) return false;
    try {
      return await on.unlock(lock, shared);
    } catch (error) {
      on.cut();
      throw error;
    }
  }

  /** Begins a wait on the server, if the claim is watched and a session is free. An attempt under way comes first: its refusal begins the wait. */
  async #begin(lock: string, claim: Claim): Promise<void> {
    const { id } = claim;
    const isWanted = () => this.#watchers.has(id) && !this.#waits.has(id) && !this.#holds.get(lock, id);
    const on = isWanted() && (await this.#sessions.toWait());
    if (!on) return;
    if (isWanted()) this.#waits.set(id, { on, over: this.#wait(lock, claim, on) });
    else this.#sessions.done(on, true);
  }

  async #wait(lock: string, claim: Claim, on: S): Promise<void> {
    const { id } = claim;
    const grant = await on.wait(lock, claim);
    this.#waits.delete(id);
    const asked = grant && Promise.resolve(grant);
    if (asked) this.#holds.keep(lock, id, { shared: !isExclusive(claim), on, asked, isHeld: true });
    this.#watchers.get(id)?.(grant);
  }

  /** Removes the watcher first: a wait that is about to begin finds no watcher, and does not begin. @returns whether there was a wait */
  async #dismiss(id: string): Promise<boolean> {
    this.#watchers.delete(id);
    const wait = this.#waits.get(id);
    await wait?.on.cancel();
    await wait?.over;
    return wait !== undefined;
  }
}
