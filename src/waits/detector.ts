import { type DeadlockWatch, LockError, type LockRuntime, quoted, type WatchedWait } from '../core/index.ts';
import { type ClaimQueues, idOfOrigin } from './claims.ts';
import { type Deadlock, describeDeadlock } from './deadlocks.ts';
import { neighbourhood } from './neighbourhood.ts';
import { CONFIRM_MS, Suspects } from './suspects.ts';

/** The time from the start of a wait to its first look, and between two looks, ms. One look is not enough: a later wait may close a cycle. */
const FIRST_LOOK_MS = 500;
const LOOK_INTERVAL_MS = 2_000;
/** How many waits one look covers at most: first the suspects, then those with the longest time since a look. */
const MAX_WAITS = 64;
/** The pause after a look, as a multiple of the duration of the look, and its minimum, ms. During the pause, other waits become due. */
const REST_FACTOR = 9;
const MIN_REST_MS = 100;

interface Wait {
  readonly key: string;
  readonly request: WatchedWait;
  readonly giveUp: (error: LockError) => void;
  lookAt: number;
}

/** Looks for deadlocks among the waits of this process with `detect`, and ends the victims. */
export class Detector implements DeadlockWatch {
  readonly #runtime: LockRuntime;
  readonly #waits = new Set<Wait>();
  #suspects = new Suspects();
  #running = false;
  #restUntil = 0;
  readonly #closed = new AbortController();

  constructor(runtime: LockRuntime) {
    this.#runtime = runtime;
  }

  watch(key: string, request: WatchedWait, giveUp: Wait['giveUp']): void {
    if (!this.#around(request)) return; // the caller holds nothing, so no claim waits for it
    const wait = { key, request, giveUp, lookAt: this.#runtime.engine.clock.now() + FIRST_LOOK_MS };
    this.#waits.add(wait);
    const over = (): void => void this.#waits.delete(wait);
    request.outcome.then(over, over);
    if (!this.#running) void this.#run();
  }

  close(): void {
    this.#closed.abort();
  }

  /** The keys of the holds around a wait; undefined if there are none. */
  #around(request: WatchedWait): readonly string[] | undefined {
    const inside = request.circumstances()?.inside.flatMap(({ key }) => key ?? []) ?? [];
    return inside.length > 0 ? inside : undefined;
  }

  async #run(): Promise<void> {
    const { engine } = this.#runtime;
    const { clock } = engine;
    this.#running = true;
    while (this.#waits.size > 0 && !engine.activity.over && !this.#closed.signal.aborted) {
      const due = [...this.#waits].sort((a, b) => a.lookAt - b.lookAt);
      const pause = Math.max(due[0]!.lookAt, this.#restUntil) - clock.now();
      if (pause > 0) {
        await engine.activity.pause(Math.min(pause, FIRST_LOOK_MS), true, this.#closed.signal);
        continue;
      }
      const now = clock.now();
      const suspects = due.filter((wait) => this.#isSuspect(wait));
      const looked = [...new Set([...suspects, ...due.filter(({ lookAt }) => lookAt <= now)])].slice(0, MAX_WAITS);
      for (const wait of looked) wait.lookAt = now + LOOK_INTERVAL_MS * (1 - clock.random() / 4);
      await this.#look(looked).catch((error) => {
        for (const { request } of looked)
          if (request.state !== 'settled') request.events.publish('detectionFailed', undefined, { error });
      });
      for (const wait of looked) if (this.#isSuspect(wait)) wait.lookAt = clock.now() + CONFIRM_MS;
    }
    this.#suspects = new Suspects();
    this.#running = false;
  }

  async #look(waits: readonly Wait[]): Promise<void> {
    const { clock } = this.#runtime.engine;
    const asking = waits.flatMap(({ key, request }) => {
      const inside = this.#around(request);
      return inside ? [{ key, inside }] : [];
    });
    const began = clock.now();
    try {
      const queues = await neighbourhood(this.#runtime, asking);
      const moment = { began, ended: clock.now() };
      const own = new Map([...this.#waits].map((wait) => [this.#idOf(wait), wait]));
      for (const deadlock of this.#suspects.look(queues, () => moment, this.#runtime.name.word)) {
        const victim = own.get(deadlock.victim ?? '');
        if (!victim) continue;
        this.#giveUp(victim, deadlock, queues);
        this.#suspects = new Suspects(); // the processes have to show again that they live
      }
    } finally {
      this.#restUntil = clock.now() + Math.max(MIN_REST_MS, (clock.now() - began) * REST_FACTOR);
    }
  }

  /** Whether the wait seems to be in a deadlock, which a look has to confirm soon. */
  #isSuspect(wait: Wait): boolean {
    return this.#suspects.open && this.#suspects.has(this.#idOf(wait));
  }

  #idOf({ request: { number } }: Wait): string {
    return idOfOrigin({ process: this.#runtime.name.word!, claim: number! }); // a listed claim has a process and a number
  }

  #giveUp({ key, request, giveUp }: Wait, deadlock: Deadlock, queues: ClaimQueues): void {
    if (request.state === 'settled' || !this.#around(request)) return;
    const { name: backend } = this.#runtime.engine.backend;
    const message = `${quoted(key)} on ${backend} cannot be had: this wait is part of a deadlock, and gives up so that the others go on: ${describeDeadlock(deadlock, queues)}. Give back what is held around this call, and try again; take locks in one order everywhere, or together with all()`;
    giveUp(new LockError('LOCK_DEADLOCK', message, { key, backend }));
  }
}
