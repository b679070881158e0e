import type { Backend, Notes, Run } from '../../core/contract/backend.ts';
import { isLockError } from '../../core/contract/errors.ts';
import type { NodeView } from './guard.ts';

/** How long a note is kept beyond what it is about, and how often one that is in use is written again. ms. */
const DAY = 86_400_000;
const AGAIN = DAY / 4;
const RUN = '\u0001quorum/run';
const BORN = '\u0001quorum/born';
const DURABLE = ' durable';

/** Leases are remembered rounded up to one of these, a note each, so that no write takes back another's: 1, 2, 3, 5, 10, 20 … s. */
export function classes(maxTtl: number): number[] {
  const found: number[] = [];
  for (let decade = 1_000; decade < maxTtl; decade *= 10)
    for (const step of [1, 2, 3, 5]) if (step * decade < maxTtl) found.push(step * decade);
  return [...found, maxTtl];
}

/** The part of a node view that comes from its notes. See guard.ts. */
type Remembered = Pick<NodeView, 'remembers' | 'marked' | 'born' | 'kept' | 'longest'>;

/** What a node remembers of the quorum, in notes beside its locks. */
export class Memory {
  readonly #backend: Backend;
  readonly #maxTtl: number;
  /** Up to which lease this process has had it written down in this run, ms, and until when that is good. */
  #noted = 0;
  #until = Number.NEGATIVE_INFINITY;

  constructor(backend: Backend, maxTtl: number) {
    this.#backend = backend;
    this.#maxTtl = maxTtl;
  }

  get #notes(): Notes | undefined {
    return this.#backend.notes;
  }

  /** True if the node is known to remember a lease of `ttl`. */
  has(ttl: number, now: number): boolean {
    return !this.#notes || (ttl <= this.#noted && now < this.#until);
  }

  /** Resolves when the node remembers the lease. Without the right to write, no process relies on the note. */
  async note(ttl: number, now: number): Promise<void> {
    const lease = classes(this.#maxTtl).find((each) => each >= ttl) ?? this.#maxTtl;
    await allowed(() => this.#notes!.write(nameOf(lease), '1', DAY + this.#maxTtl));
    if (now >= this.#until) this.#until = now + AGAIN;
    this.#noted = Math.max(this.#noted, lease);
  }

  /** Forgets what this process has noted, since a new run may have lost it. Returns the longest lease noted, ms. */
  forget(): number {
    const noted = this.#noted;
    this.#noted = 0;
    this.#until = Number.NEGATIVE_INFINITY;
    return noted;
  }

  /** Reads the notes of the node. */
  async look(run: Run): Promise<Remembered> {
    const found = await this.#read(run);
    // A lease is written down after the mark of its run. One without the other was read while another process wrote them.
    return found.longest > 0 && found.marked === undefined ? this.#read(run) : found;
  }

  async #read(run: Run): Promise<Remembered> {
    const read = (name: string): Promise<string | undefined> => this.#notes!.read(name);
    const leases = classes(this.#maxTtl);
    const found = this.#notes && (await allowed(() => Promise.all([RUN, BORN, ...leases.map(nameOf)].map(read))));
    if (!found) return { remembers: false, marked: undefined, born: [], kept: false, longest: 0 };
    const [mark, born, ...noted] = found;
    const longest = leases.findLast((_, i) => noted[i] !== undefined) ?? 0;
    const kept = mark?.endsWith(DURABLE) === true && run.durable === true;
    return { remembers: true, marked: mark?.replace(DURABLE, ''), born: born?.split('\n') ?? [], kept, longest };
  }

  /**
   * Has it say that votes of this run count: what the last one may have forgotten has lapsed.
   * @param run undefined where it names none: its votes always count
   * @param born the runs of all nodes, where they are new: should this process end before all of them say so, one is enough
   */
  async mark(run: Run | undefined, born: readonly string[] | undefined): Promise<void> {
    if (born) await allowed(() => this.#notes?.write(BORN, born.join('\n'), DAY + this.#maxTtl));
    if (!run) return;
    const mark = run.durable ? run.id + DURABLE : run.id;
    await allowed(() => this.#notes?.write(RUN, mark, DAY + this.#maxTtl));
  }
}

const nameOf = (lease: number): string => `\u0001quorum/lease/${lease}`;

/** Resolves to undefined if the user has no right to make the call. */
async function allowed<T>(ask: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!isLockError(error)) throw error;
    return undefined;
  }
}
