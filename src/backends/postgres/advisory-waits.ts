import { type Claim, type Clock, isExclusive, type Wake } from '../../core/index.ts';
import type { AdvisoryHolds } from './advisory-holds.ts';
import type { AdvisorySessions } from './advisory-sessions.ts';
import { type AdvisoryStatements, grantOf, leastOf } from './advisory-statements.ts';
import { AdvisoryWait } from './advisory-wait.ts';
import type { Row } from './pool.ts';

/** The claims that are watched, and those of them that wait on the server: as many as there are sessions for it. */
export class AdvisoryWaits {
  readonly #sessions: AdvisorySessions;
  readonly #holds: AdvisoryHolds;
  readonly #texts: AdvisoryStatements;
  readonly #clock: Clock;
  readonly #watchers = new Map<string, Wake>();
  /** Each stays until nothing is left of it on the server. */
  readonly #waits = new Map<string, AdvisoryWait>();

  constructor(sessions: AdvisorySessions, holds: AdvisoryHolds, texts: AdvisoryStatements, clock: Clock) {
    this.#sessions = sessions;
    this.#holds = holds;
    this.#texts = texts;
    this.#clock = clock;
  }

  has(id: string): boolean {
    return this.#waits.has(id);
  }

  async watch(lock: string, claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const { id } = claim;
    this.#watchers.set(id, wake);
    if (!this.#holds.get(lock, id)) await this.begin(lock, claim);
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#watchers.get(id) === wake) await this.dismiss(id);
      },
    };
  }

  /** Starts to wait on the server, if the claim is watched and a session is left for it. */
  async begin(lock: string, claim: Claim): Promise<void> {
    const { id } = claim;
    const isWanted = () => this.#watchers.has(id) && !this.#waits.has(id);
    const on = isWanted() && (await this.#sessions.toWait());
    if (!on) return;
    if (!isWanted()) {
      on.waiting = false;
      return;
    }
    const shared = !isExclusive(claim);
    const statement: [string, unknown[]] = [this.#texts(shared).wait, [lock, leastOf(claim)]];
    const settle = (row: Row | undefined) => {
      this.#waits.delete(id);
      const grant = row && grantOf(row, on);
      if (grant) this.#holds.keep(lock, id, { shared, on, asked: Promise.resolve(grant) });
      this.#watchers.get(id)?.(grant);
    };
    this.#waits.set(id, new AdvisoryWait(this.#sessions, on, this.#clock, statement, settle));
  }

  /** The watcher is removed first: a wait that is about to begin finds it gone, and does not start. */
  async dismiss(id: string): Promise<boolean> {
    this.#watchers.delete(id);
    const wait = this.#waits.get(id);
    await wait?.cancel();
    this.#waits.delete(id);
    return wait !== undefined;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#watchers.keys(), ...this.#waits.keys()].map((id) => this.dismiss(id)));
  }
}
