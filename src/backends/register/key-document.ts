import { isLockError, type RegisterEntry, sleep, type WriteOutcome } from '../../core/index.ts';
import { MAX_CONFLICTS, Throttled } from './calls.ts';
import { queueText } from './document.ts';
import type { OpenQueue, QueueReader, QueueState } from './open-queue.ts';
import type { Sight } from './sightings.ts';

/** One change of a queue, or a question about it. */
interface Step extends PromiseWithResolvers<unknown> {
  readonly apply: (queue: OpenQueue) => unknown;
  /** If an earlier write may still come, this step writes even without a change. So the earlier write finds another version, and is refused. */
  readonly settles?: boolean;
  /** Answers the step without a change, if the change can wait. @param age of the known queue, ms; undefined: the queue is fresh */
  readonly putOff?: (queue: OpenQueue, age?: number) => unknown;
}

/** How long a known queue is used, ms. After that, its document may have been removed, and in some stores a new one may have the same version. */
const REMEMBERED_MS = 60_000;
/** After this many refused writes in a row, steps that can wait are put off. */
const MAX_REFUSED_WRITES = 2;
/** After the time of this many requests, others have probably changed a queue of several claims. */
const KNOWN_REQUESTS = 4;
/** A store that has refused so often to make a missing document will refuse again. */
const MAX_REFUSED_OVER_NOTHING = 8;
const REFUSED_OVER_NOTHING =
  'shows nothing there, and refuses to make it as if something were: some stores take the delete marker of a versioned bucket for an object. Use a bucket without versioning, or remove the marker';
/** The longest pause after a conflict, or to leave room for others, ms. */
const MAX_PAUSE_MS = 1_000;

/**
 * The queue of one key, in its document. Steps of this process that come together go into one write, and only one write is under way at a
 * time. A step is decided on the known queue, and counts when the store has taken the write. If the steps change nothing, they are decided
 * again on a fresh read.
 */
export class KeyDocument {
  readonly #reader: QueueReader;
  readonly #room = new Room();
  #known: QueueState | undefined;
  /** A write was not answered, so it may still come. */
  #doubt = false;
  /** Until when core may ask to release what such a write has brought. */
  #doubtEnd = 0;
  #new = true;
  #pending: Step[] = [];
  #running = false;

  constructor(reader: QueueReader) {
    this.#reader = reader;
  }

  get idle(): boolean {
    return !this.#running && (!this.#doubt || this.#reader.calls.clock.now() > this.#doubtEnd);
  }

  /** @param ttl how long the step can wait for a request that is under way, ms */
  take<T>(
    { ttl, ...how }: { ttl?: number } & Pick<Step, 'settles' | 'putOff'>,
    apply: (queue: OpenQueue) => T,
  ): Promise<T> {
    const { calls } = this.#reader;
    if (ttl !== undefined) calls.hurry(ttl);
    // Core asks to release a claim for a lease and the time of an attempt. A renewal gives 0.3 of the lease as `ttl`.
    this.#doubtEnd = Math.max(this.#doubtEnd, calls.clock.now() + 4 * (ttl ?? 0) + REMEMBERED_MS);
    const step: Step = { apply, ...how, ...Promise.withResolvers() };
    this.#pending.push(step);
    if (!this.#running) void this.#run();
    return step.promise as Promise<T>;
  }

  /** Takes the entry that a watch or a listing has brought. */
  learn(entry: RegisterEntry): OpenQueue {
    const known = this.#reader.stateOf(entry, this.#reader.calls.clock.now());
    if (!this.#running && !this.#reader.calls.store.tellsTime) this.#known = known;
    return this.#reader.open(known);
  }

  async #run(): Promise<void> {
    this.#running = true;
    await undefined; // steps of the same turn of the event loop go into one write
    while (this.#pending.length > 0) {
      const steps: Step[] = [];
      try {
        const answers = await this.#commit(steps);
        for (const [at, { resolve }] of steps.entries()) resolve(answers[at]);
      } catch (error) {
        this.#known = undefined;
        for (const { reject } of steps) reject(error);
      }
    }
    this.#running = false;
  }

  /** Answers all steps from the known queue, if each of them can wait. @param age as in `Step.putOff` */
  #putOff(steps: readonly Step[], age?: number): unknown[] | undefined {
    if (!this.#known || this.#doubt || steps.length === 0) return undefined;
    const open = this.#reader.open(this.#known);
    const answers = steps.map(({ putOff }) => putOff?.(open, age));
    return answers.includes(undefined) ? undefined : answers;
  }

  /** @param steps gets the steps that this commit answers */
  async #commit(steps: Step[]): Promise<unknown[]> {
    const { clock, proof, store } = this.#reader.calls;
    let [fresh, refusedOverNothing] = [false, 0];
    const age = clock.now() - (this.#known?.at ?? 0);
    if (!store.watch) {
      for (const step of this.#pending.splice(0)) steps.push(step);
      const known = this.#putOff(steps, age);
      if (known) return known;
    }
    // Drops the known queue if the time in it, or the queue itself, is too old.
    const isCrowd = Array.from(this.#known?.queue.claims ?? []).length > 1;
    if (store.tellsTime || age > REMEMBERED_MS || (isCrowd && age > KNOWN_REQUESTS * this.#reader.took))
      this.#known = undefined;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; ) {
      const later = conflicts < MAX_REFUSED_WRITES ? undefined : this.#putOff(steps);
      if (later) return later;
      const room = this.#room.pause(this.#known?.version, clock.now());
      if (room > 0) await sleep(clock, Math.min(MAX_PAUSE_MS, room));
      for (const step of this.#pending.splice(0)) steps.push(step);
      await proof?.passed();
      if (!this.#known) {
        // The guess that the key has no document costs nothing: if the guess is wrong, the refusal brings the document.
        const guess = this.#new && store.tellsConflicts === true && !store.tellsTime; // a guess has no time
        this.#known = guess ? this.#reader.stateOf(undefined, 0) : await this.#reader.read();
        fresh = !guess;
        this.#new = false;
      }
      const { version } = this.#known;
      const open = this.#reader.open(this.#known);
      const answers = steps.map(({ apply }) => apply(open));
      if (!open.changed && !(this.#doubt && (conflicts > 0 || steps.some(({ settles }) => settles)))) {
        if (fresh) return answers;
        this.#known = undefined;
        continue;
      }
      if (await this.#write(open, version, conflicts++)) return answers;
      fresh = true;
      refusedOverNothing = (version ?? this.#known?.version) ? 0 : refusedOverNothing + 1;
      if (refusedOverNothing === MAX_REFUSED_OVER_NOTHING) throw new Error(`${store.name} ${REFUSED_OVER_NOTHING}`);
    }
    throw new Error(`others changed the queue ${MAX_CONFLICTS} times in a row before a change could be written`);
  }

  /**
   * @param conflicts the number of writes that were refused before
   * @returns whether the store took the write; if not, the known queue is the one of the store
   */
  async #write(open: OpenQueue, version: string | undefined, conflicts: number): Promise<boolean> {
    const { calls, key, name, sightings } = this.#reader;
    const { clock, store } = calls;
    const text = queueText(key, open, calls.mark());
    this.#known = undefined;
    const sent = clock.now();
    const doubt = this.#doubt;
    this.#doubt = true;
    const { taken, found, ...made } = await calls.write(name, text, version).catch((error): WriteOutcome => {
      if (error instanceof Throttled) return { taken: false };
      if (isLockError(error)) this.#doubt = doubt;
      throw error;
    });
    // If a client repeats a request by itself, the store may take the first and refuse the second. Then the store has our text.
    if (!taken && found?.text !== text) {
      // The random pause separates rivals. It grows with each conflict. It comes before the read: otherwise the read would be old.
      const pause = Math.min(MAX_PAUSE_MS, (clock.now() - sent) * conflicts) * clock.random();
      if (pause > 0) await sleep(clock, pause);
      const isEnough = found && conflicts === 0 && !store.tellsTime;
      this.#known = isEnough ? this.#reader.stateOf(found, 0) : await this.#reader.read();
      // If the version is unchanged, another write is under way: perhaps an earlier copy of this write, which may still be taken.
      this.#doubt = doubt || this.#known.version === version;
      if (this.#known.text !== text) return false;
    }
    this.#doubt = false;
    sightings.see(key, open.claims, clock.resync()); // the write may have admitted claims
    const now = this.#known?.version ?? found?.version ?? made.version;
    this.#room.wrote(version, now, sent, clock.now());
    const sightNow = (): Sight => sightings.by(key, clock.now());
    if (now !== undefined) this.#known = { queue: open, text, version: now, at: clock.now(), sight: sightNow };
    return true;
  }
}

/** After this many writes in a row, each on the version of its own last write, a process leaves room for others. */
const MAX_WRITES_IN_A_ROW = 8;
/** The pause is this many times as long as the last write, so that another process can begin, read and write. */
const ROOM_FACTOR = 3;

/**
 * Decides when a process leaves room for others. A process knows what it wrote last, so its next change takes one request. Another process has
 * to read first. If the first process never paused, the other would find a newer version at each write.
 */
class Room {
  #inARow = 0;
  #version: string | undefined;
  #took = 0;
  #end = 0;

  /** @param version the version that the change replaces @returns how long to wait before the change, ms */
  pause(version: string | undefined, now: number): number {
    if (this.#inARow < MAX_WRITES_IN_A_ROW || version !== this.#version) return 0;
    return Math.max(0, this.#end + ROOM_FACTOR * this.#took - now);
  }

  /** @param on the version before the write @param version the version after it */
  wrote(on: string | undefined, version: string | undefined, sent: number, now: number): void {
    const atOnce = on === this.#version && sent - this.#end <= this.#took;
    this.#inARow = atOnce ? this.#inARow + 1 : 1;
    this.#version = version;
    this.#took = now - sent;
    this.#end = now;
  }
}
