/** What was promised, and was not kept. */
export type Broken =
  /** Two holders at once; permits over their number; a reader beside a writer. */
  | 'exclusion'
  /** A token was no higher than that of an earlier holder. */
  | 'tokens'
  /** The register took a write from a holder after the next one had begun; or refused one of whoever held. */
  | 'register'
  /** A key was free, somebody waited, the engine answered, and nobody got in for longer than is promised. */
  | 'starvation'
  /** Waiters get in only when they ask again, as if nobody had woken them. */
  | 'wake-ups'
  /** A hold outlived its lease, and its process. */
  | 'residue'
  /** A process ended by itself. */
  | 'crash';

export interface Violation {
  readonly broken: Broken;
  readonly key?: string;
  /** ms since the start. */
  readonly at: number;
  readonly message: string;
  /** The wishes it is about. */
  readonly ops: readonly string[];
}

/** What the judge has to know of the engine and the run. */
export interface Terms {
  /** ms */
  readonly ttl: number;
  /** Whether waiters are woken; where they ask again and again, nobody can be late. */
  readonly wakes: boolean;
  /** ms to the engine and back. */
  readonly way: number;
}
