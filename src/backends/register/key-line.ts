import { systemClock } from '../../core/contract/clock.ts';
import { isLockError } from '../../core/contract/errors.ts';
import { mostOf } from '../../core/contract/extremes.ts';
import { sleep } from '../../core/contract/promises.ts';
import type { RegisterEntry } from '../../core/contract/register-store.ts';
import { type Calls, MOST_CONFLICTS } from './calls.ts';
import { type Line, lineOf, lineText } from './document.ts';
import { OpenLine } from './line.ts';
import { Room } from './room.ts';
import { byStore, type Sight, type Sightings } from './sightings.ts';

/** One change of a line, or a question about it. */
interface Step extends PromiseWithResolvers<unknown> {
  readonly apply: (line: OpenLine) => unknown;
  /** It is written in any case, if an earlier write may still be under way: that one finds another version then. */
  readonly settles?: boolean;
}

/** The line of a key, as it was when it was last read or written here. */
interface LineState {
  readonly line: Line;
  readonly text: string | undefined;
  readonly version: string | undefined;
  /** When that was, by the clock of this process. */
  readonly at: number;
  readonly sight: () => Sight;
}

/** For so long a line is remembered, ms. Somebody may remove the document of an idle key, and in some stores its versions begin again. */
const MEMORY = 60_000;
/** Longest pause, after a conflict or to leave room, ms. */
const LONGEST_PAUSE = 1_000;

/**
 * The line of one key. All steps of this process that come together go into one write, and no two of its writes meet. A step is decided on
 * what is known, and counts when the store has taken the write that follows of it; where nothing follows of it, it is decided on a
 * fresh read.
 */
export class KeyLine {
  readonly #key: string;
  readonly #name: string;
  readonly #calls: Calls;
  readonly #sightings: Sightings;
  readonly #room = new Room();
  #known: LineState | undefined;
  /** A write was not answered: it may still come. */
  #doubt = false;
  #new = true;
  #pending: Step[] = [];
  #running = false;

  constructor(key: string, name: string, calls: Calls, sightings: Sightings) {
    this.#key = key;
    this.#name = name;
    this.#sightings = sightings;
    this.#calls = calls.apart();
  }

  get idle(): boolean {
    return !this.#running && !this.#doubt;
  }

  /** @param ttl ms: it waits for a lost request no longer */
  take<T>({ ttl, ...how }: { ttl?: number | undefined; settles?: boolean }, apply: (line: OpenLine) => T): Promise<T> {
    if (ttl !== undefined) this.#calls.hurry(ttl);
    const step: Step = { apply, ...how, ...Promise.withResolvers() };
    this.#pending.push(step);
    if (!this.#running) void this.#run();
    return step.promise as Promise<T>;
  }

  /** What a watch has brought. */
  learn(entry: RegisterEntry): OpenLine {
    const known = this.#stateOf(entry, this.#calls.clock.now());
    if (!this.#running && !this.#calls.store.tellsTime) this.#known = known;
    return new OpenLine(known.line, known.sight());
  }

  async #run(): Promise<void> {
    this.#running = true;
    await undefined; // what comes in the same turn goes along
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

  /** @param steps gets the steps that go along */
  async #commit(steps: Step[]): Promise<unknown[]> {
    const { clock, store } = this.#calls;
    let fresh = false;
    // What it knew of the time is over, or of the line.
    if (store.tellsTime || clock.now() - (this.#known?.at ?? 0) > MEMORY) this.#known = undefined;
    for (let conflicts = 0; conflicts < MOST_CONFLICTS; ) {
      const room = this.#room.pause(this.#known?.version, clock.now());
      if (room > 0) await sleep(clock, Math.min(LONGEST_PAUSE, room));
      for (const step of this.#pending.splice(0)) steps.push(step);
      if (!this.#known) {
        // A guess costs nothing there: either nothing is under the key, or the refusal tells what is.
        const guess = this.#new && store.tellsConflicts === true;
        this.#known = guess ? this.#stateOf(undefined, 0) : await this.#read();
        fresh = !guess;
        this.#new = false;
      }
      const { line, version, sight } = this.#known;
      const open = new OpenLine(line, sight());
      const answers = steps.map(({ apply }) => apply(open));
      if (!open.changed && !(this.#doubt && (conflicts > 0 || steps.some(({ settles }) => settles)))) {
        if (fresh) return answers;
        this.#known = undefined;
        continue;
      }
      if (await this.#write(open, version, conflicts++)) return answers;
      fresh = true;
    }
    throw new Error(`others changed the line ${MOST_CONFLICTS} times in a row before a change could be written`);
  }

  async #read(): Promise<LineState> {
    const sent = this.#calls.clock.now();
    return this.#stateOf(await this.#calls.read(this.#name), sent);
  }

  /**
   * @param conflicts so many writes were refused before
   * @returns whether the store took it; if not, what is known then is what is there instead
   */
  async #write(open: OpenLine, version: string | undefined, conflicts: number): Promise<boolean> {
    const { clock, store } = this.#calls;
    await this.#calls.proof?.passed();
    const refusal = this.#calls.proof?.refusal(mostOf(open.places.flatMap(({ life, ttl }) => [life, ttl])));
    if (refusal) throw refusal;
    const text = lineText(this.#key, open, this.#calls.mark());
    this.#known = undefined;
    const sent = clock.now();
    const doubt = this.#doubt;
    this.#doubt = true;
    const { taken, found, ...made } = await this.#calls.write(this.#name, text, version).catch((error) => {
      if (isLockError(error)) this.#doubt = doubt;
      throw error;
    });
    // A client that sends again by itself may meet its own first try.
    if (!taken && found?.text !== text) {
      // Rivals part: by up to as long as this took, and more with each conflict. What is read before a pause would be old after it.
      const pause = Math.min(LONGEST_PAUSE, (clock.now() - sent) * conflicts) * clock.random();
      if (pause > 0) await sleep(clock, pause);
      const told = conflicts === 0 && !store.tellsTime ? found : undefined;
      this.#known = told ? this.#stateOf(told, 0) : await this.#read();
      // Refused, though it has the version that is there: another write is under way, which may be its own first try, and still come.
      this.#doubt = doubt || this.#known.version === version;
      if (this.#known.text !== text) return false;
    }
    this.#doubt = false;
    this.#sightings.see(this.#key, open.places, clock.now());
    const now = this.#known?.version ?? found?.version ?? made.version;
    this.#room.wrote(version, now, sent, clock.now());
    const known = { line: open, text, at: clock.now(), sight: () => this.#sightings.by(this.#key, clock.now()) };
    if (now !== undefined) this.#known = { ...known, version: now };
    return true;
  }

  #stateOf(entry: RegisterEntry | undefined, sent: number): LineState {
    const { clock, store } = this.#calls;
    const { text, version, now } = entry ?? {};
    // Where a store has forgotten the last token, the clock on the wall is very likely ahead of it.
    const line =
      text === undefined
        ? { last: BigInt(Math.floor(clock.epoch?.() ?? systemClock.epoch())) * 1_000n, places: [], out: [] }
        : lineOf(text, this.#key, store.name);
    this.#sightings.see(this.#key, line.places, clock.now());
    const sight = (): Sight =>
      now === undefined ? this.#sightings.by(this.#key, clock.now()) : byStore(now, clock.now() - sent);
    return { line, text, version, at: clock.now(), sight };
  }
}
