import type {
  Attempt,
  Backend,
  Claim,
  Finding,
  Grant,
  Handle,
  Listing,
  Renewal,
  Standing,
} from '../../core/backend.ts';
import type { CallTimeouts } from '../../core/call-timeouts.ts';
import type { Clock } from '../../core/clock.ts';
import { collected } from '../../core/collected.ts';
import { invalid, isLockError, type LockError } from '../../core/errors.ts';
import { GoingOn } from '../../core/going-on.ts';
import { heard } from '../../core/heard.ts';
import { type Identities, Identity } from './identity.ts';

/** A node that does not answer is asked again this often, and left out between. ms. */
const PROBE = 500;
/** Pauses between tries to give something back: the first, doubled up to the last. ms. */
const FIRST_PAUSE = 50;
const LAST_PAUSE = 2_000;

/** Made once: with its stack an error costs more than a message. */
const SILENT = new Error('is silent');

const UNGUARDED: Finding = {
  severity: 'info',
  code: 'restart-unseen',
  message: 'nobody can see whether it started anew, so it counts at once when it did',
  advice: 'let it keep its data over a restart, or keep it away for the longest lease after one',
};

/** What all nodes of one quorum share. */
export interface NodeContext {
  readonly clock: Clock;
  readonly timeouts: CallTimeouts;
  readonly identities: Identities;
  /** One numbers its grants itself. */
  misuse?: LockError;
}

/**
 * What becomes of a question, told by calls and not by a promise: every turn that is spent between an answer and the next question
 * is one in which that node, and the others behind it, have nothing to do.
 */
export interface Hearing<Answer> {
  answered(answer: Answer): void;
  /** The answer is unknown, or may not count. */
  failed(why: unknown): void;
  /** It was answered after it had failed. */
  late?(answer: Answer): void;
}

/** One of the engines a quorum is made of: asked with patience of its own, left out while it is silent or not to be trusted. */
export class Node {
  readonly title: string;
  readonly backend: Backend;
  readonly #context: NodeContext;
  readonly #identity: Identity;
  readonly #pauses = new Set<() => void>();
  #silent = false;
  #probeAt = 0;
  #closed = false;

  constructor(backend: Backend, number: number, context: NodeContext) {
    this.backend = backend;
    this.title = `node ${number} (${backend.name})`;
    this.#context = context;
    this.#identity = new Identity(backend, this.title, context.identities);
  }

  /** Why it is of no use to ask it now. A silent node is asked now and then, so that it is found when it is back. */
  get absence(): Error | undefined {
    const { doubt } = this.#identity;
    if (doubt && this.#context.identities.all.some(({ isTwin }) => isTwin)) return undefined; // it is refused with the reason
    if (doubt || !this.#silent) return doubt;
    const now = this.#context.clock.now();
    if (now < this.#probeAt) return SILENT;
    this.#probeAt = now + PROBE;
    return undefined;
  }

  /** Finds out which run of which server it is. */
  async introduce(within: number): Promise<void> {
    await this.#answer(() => this.#identity.ask(), within);
  }

  /** @param sent when, by the clock: now */
  attempt(claim: Claim, sent: number, vote: Hearing<Attempt>): void {
    const call = (): Promise<Attempt> => {
      const parted = this.#parted();
      return parted ? parted.then(() => this.backend.attempt(claim)) : this.backend.attempt(claim);
    };
    this.#ask(call, claim.within, sent, {
      answered: (answer) => {
        if (answer.granted) this.#vouch(answer, claim.ttl, sent, vote);
        else vote.answered(answer);
      },
      failed: (error) => {
        // Its vote would never count, and nobody would see it until another node is lost.
        if (isLockError(error, 'LOCK_UNSUPPORTED'))
          this.#context.misuse = invalid(`${this.title} cannot be one of a quorum: ${error.message}`);
        vote.failed(error);
      },
      late: vote.late,
    });
  }

  renew(claims: readonly Claim[], within: number): Promise<Renewal[]> {
    return this.#answer(() => {
      const noted = this.#identity.remember(Math.max(...claims.map(({ ttl }) => ttl)));
      return noted ? noted.then(() => this.backend.renew(claims)) : this.backend.renew(claims);
    }, within);
  }

  /**
   * Gives back whatever the node may have given this id: again and again, until the node says so or it must have lapsed.
   * @param lapse ms after which it must have
   * @param told hears of the first try: whether it freed something, undefined where nobody knows
   */
  undo(handle: Handle, within: number, lapse: number, told: (freed: boolean | undefined) => void): void {
    const sent = this.#context.clock.now();
    this.#ask(() => this.backend.release(handle), within, sent, {
      answered: ({ freed }) => told(freed),
      failed: () => {
        told(undefined);
        void this.#insist(handle, within, sent + lapse);
      },
    });
  }

  async #insist(handle: Handle, within: number, until: number): Promise<void> {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LAST_PAUSE)) {
      if (this.#closed || this.#context.clock.now() >= until) return;
      await this.#pause(pause);
      if (this.#closed) return;
      try {
        await this.#answer(() => this.backend.release(handle), within);
        return;
      } catch {} // nobody knows: again
    }
  }

  /** @param within for each of its requests, as far as it tells of them */
  list(prefix: string, { exact = false, progress }: Listing, within: number): Promise<Standing[]> {
    const work = new GoingOn();
    const goesOn = (looked: number): void => {
      work.moved();
      progress?.(looked);
    };
    const all = collected(this.backend.inspect!(prefix, { exact, progress: goesOn }));
    return work.until(all, (step) => this.#answer(step, within));
  }

  evict(key: string, ticket: bigint, within: number): Promise<boolean> {
    return this.#answer(() => this.backend.evict!(key, ticket), within);
  }

  /** With a warning where it cannot be seen that it started anew. */
  async check(within: number): Promise<Finding[]> {
    const found = await this.#answer(async () => this.backend.check?.() ?? [], within);
    return this.#context.identities.guarded && this.#identity.nameless ? [...found, UNGUARDED] : found;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const wake of [...this.#pauses]) wake();
    await this.backend.close();
  }

  #answer<T>(call: () => Promise<T>, within: number): Promise<T> {
    const now = this.#context.clock.now();
    return new Promise((answered, failed) => this.#ask(call, within, now, { answered, failed }));
  }

  #ask<T>(call: () => Promise<T>, within: number, sent: number, hearing: Hearing<T>): void {
    const { timeouts, clock } = this.#context;
    const expired = (): void => {
      this.#silent = true;
      this.#probeAt = clock.now() + PROBE;
      hearing.failed(new Error(`no answer within ${Math.round(within)} ms`));
    };
    const asked = timeouts.begin(within, expired, sent);
    heard(call).then(
      (answer) => {
        this.#silent = false;
        try {
          if (timeouts.end(asked)) hearing.answered(answer);
          else hearing.late?.(answer);
        } catch (error) {
          hearing.failed(error); // a backend of somebody else's may answer anything
        }
      },
      (error) => {
        this.#silent = false;
        if (timeouts.end(asked)) hearing.failed(error);
      },
    );
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        this.#pauses.delete(wake);
        resolve();
      };
      const cancel = this.#context.clock.after(ms, wake, true);
      this.#pauses.add(wake);
    });
  }

  /** Nothing is asked of a quorum that is misused, while it is. */
  #parted(): Promise<unknown> | undefined {
    const { misuse, identities } = this.#context;
    if (misuse) return Promise.reject(misuse);
    const twins = identities.all.filter(({ isTwin }) => isTwin);
    return twins.length === 0 ? undefined : Promise.all(twins.map((twin) => twin.part()));
  }

  /** A grant counts where the run is the one that granted it, and has not forgotten what it granted before. */
  #vouch(grant: Grant, ttl: number, sent: number, vote: Hearing<Attempt>): void {
    const count = (): void => {
      const { doubt } = this.#identity; // also where another attempt has learnt of the new run first
      if (doubt) vote.failed(doubt);
      else vote.answered(grant);
    };
    const known = this.#identity.known(ttl, sent);
    if (known) known.then(count, vote.failed);
    else count();
  }
}
