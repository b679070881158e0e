import type { Backend, Hints, Run } from '../../core/contract/backend.ts';
import { isLockError } from '../../core/contract/errors.ts';
import type { NodeView } from './guard.ts';

/** How long a note is kept after its lease is over, and how often a note that is in use is written again. ms. */
const DAY = 86_400_000;
const AGAIN = DAY / 4;
const RUN = '\u0001quorum/run';
const BORN = '\u0001quorum/born';
const DURABLE = ' durable';

/** A lease is rounded up to one of these: 1, 2, 3, 5, 10, 20 … s. Each has a note of its own, so that no write undoes another. */
export function leaseClasses(maxTtl: number): number[] {
  const found: number[] = [];
  for (let decade = 1_000; decade < maxTtl; decade *= 10)
    for (const step of [1, 2, 3, 5]) if (step * decade < maxTtl) found.push(step * decade);
  return [...found, maxTtl];
}

/** The part of a node view that comes from its notes. See guard.ts. */
type NodeNotes = Pick<NodeView, 'remembers' | 'marked' | 'born' | 'kept' | 'longest'>;

/** The notes in which a node remembers facts about the quorum. The node keeps them beside its locks. */
export class Memory {
  readonly #backend: Backend;
  readonly #maxTtl: number;
  /** The longest lease that this process has noted at this run, ms, and the time until which it need not note it again. */
  #longestNoted = 0;
  #until = Number.NEGATIVE_INFINITY;

  constructor(backend: Backend, maxTtl: number) {
    this.#backend = backend;
    this.#maxTtl = maxTtl;
  }

  get #notes(): Hints | undefined {
    return this.#backend.hints;
  }

  /** True if the node is known to remember a lease of `ttl`. */
  remembers(ttl: number, now: number): boolean {
    return !this.#notes || (ttl <= this.#longestNoted && now < this.#until);
  }

  /** Resolves when the node remembers the lease. If the user has no right to write, no process relies on the note. */
  async noteLease(ttl: number, now: number): Promise<void> {
    const lease = leaseClasses(this.#maxTtl).find((each) => each >= ttl) ?? this.#maxTtl;
    await ifAllowed(() => this.#notes!.write(leaseNote(lease), '1', DAY + this.#maxTtl));
    if (now >= this.#until) this.#until = now + AGAIN;
    this.#longestNoted = Math.max(this.#longestNoted, lease);
  }

  /** Forgets what this process has noted, since a new run may have lost it. Returns the longest lease noted, ms. */
  forget(): number {
    const noted = this.#longestNoted;
    this.#longestNoted = 0;
    this.#until = Number.NEGATIVE_INFINITY;
    return noted;
  }

  /** Reads the notes of the node. */
  async readNotes(run: Run): Promise<NodeNotes> {
    const found = await this.#read(run);
    // A lease is written down after the mark of its run. One without the other was read while another process wrote them.
    return found.longest > 0 && found.marked === undefined ? this.#read(run) : found;
  }

  async #read(run: Run): Promise<NodeNotes> {
    const read = (name: string): Promise<string | undefined> => this.#notes!.read(name);
    const leases = leaseClasses(this.#maxTtl);
    const found = this.#notes && (await ifAllowed(() => Promise.all([RUN, BORN, ...leases.map(leaseNote)].map(read))));
    if (!found) return { remembers: false, marked: undefined, born: [], kept: false, longest: 0 };
    const [mark, born, ...noted] = found;
    const longest = leases.findLast((_, i) => noted[i] !== undefined) ?? 0;
    const kept = mark?.endsWith(DURABLE) === true && run.durable === true;
    return { remembers: true, marked: mark?.replace(DURABLE, ''), born: born?.split('\n') ?? [], kept, longest };
  }

  /**
   * Notes at the node that the votes of this run count, because all that an earlier run may have forgotten has expired.
   * @param run undefined if the node names no run: its votes always count
   * @param born the runs of all nodes if they are new. If this process ends before it marked all of them, one marked node is enough
   */
  async mark(run: Run | undefined, born: readonly string[] | undefined): Promise<void> {
    if (born) await ifAllowed(() => this.#notes?.write(BORN, born.join('\n'), DAY + this.#maxTtl));
    if (!run) return;
    const mark = run.durable ? run.id + DURABLE : run.id;
    await ifAllowed(() => this.#notes?.write(RUN, mark, DAY + this.#maxTtl));
  }
}

const leaseNote = (lease: number): string => `\u0001quorum/lease/${lease}`;

/** Resolves to undefined if the user has no right to make the call. */
async function ifAllowed<T>(ask: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!isLockError(error)) throw error;
    return undefined;
  }
}
